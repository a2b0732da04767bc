/// A reducer of one event type that also returns an effect, which runs after the commit of the change.
///
/// The reducer describes the effect and does not run it. The reducer may run again for the same event; its effect
/// runs once.
public protocol EffectReducer<State, Event>: EventReducer {
    // Declared again, because it could not be inferred from the method below.
    /// The state that the reducer changes.
    associatedtype State
    /// The events that the reducer handles; it ignores others.
    associatedtype Event: AppEvent

    /// Applies the event to the state, and returns the effect.
    ///
    /// - Throws: A ``RejectionError`` to reject the event. Nothing has changed then, and there is no effect.
    func reduce(into state: inout State, event: Event) throws -> Effect<Event>
}

extension EffectReducer {
    /// Changes the state and discards the effect.
    public func reduce(into state: inout State, queuedEvent: QueuedEvent) throws {
        var effects = ReducerEffects()
        try reduce(into: &state, queuedEvent: queuedEvent, effects: &effects)
    }

    /// Changes the state, and adds the effect.
    public func reduce(into state: inout State, queuedEvent: QueuedEvent, effects: inout ReducerEffects) throws {
        guard let event = queuedEvent.event as? Event else { return }
        effects.add(try reduce(into: &state, event: event))
    }
}

/// The effects of one event, in the order of the reducers that returned them.
public struct ReducerEffects: Sendable {
    /// The effects, each with its own event type.
    private var effects: [any ErasableEffect] = []

    /// Creates an empty list.
    public init() {}

    /// Adds an effect.
    ///
    /// It runs after the commit, at the same time as the effects of the event's other reducers.
    public mutating func add<Event: AppEvent>(_ effect: Effect<Event>) {
        guard !effect.isNone else { return }
        effects.append(effect)
    }

    /// All effects as one, with erased event types.
    package var erased: Effect<ErasedEvent> { .merge(effects.map(\.erased)) }

    /// Returns all effects as one; nil if an effect dispatches events of another type than the app's.
    package func merged<Event: AppEvent>(as event: Event.Type) -> Effect<Event>? {
        guard !effects.isEmpty else { return Effect.none }
        let typed = effects.compactMap { $0 as? Effect<Event> }
        return typed.count == effects.count ? .merge(typed) : nil
    }
}
