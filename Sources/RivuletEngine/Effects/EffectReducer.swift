/// A reducer of one event type whose effects run once its change is committed.
///
/// It says what is to be done and does nothing itself: it may run again for the same event, its effects run once.
public protocol EffectReducer<State, Event>: EventReducer {
    // Said again, or it would not follow from the method below.
    /// The state that it changes.
    associatedtype State
    /// The events that it takes; others pass by.
    associatedtype Event: AppEvent

    /// Changes the state as the event asks, and returns what follows.
    ///
    /// - Throws: an ``EventRejection`` to refuse; nothing has changed then, and nothing follows.
    func reduce(into state: inout State, event: Event) throws -> Effect<Event>
}

extension EffectReducer {
    /// Changes the state; what follows is left out.
    public func reduce(into state: inout State, queuedEvent: QueuedEvent) throws {
        var effects = ReducerEffects()
        try reduce(into: &state, queuedEvent: queuedEvent, effects: &effects)
    }

    /// Changes the state, and adds what follows.
    public func reduce(into state: inout State, queuedEvent: QueuedEvent, effects: inout ReducerEffects) throws {
        guard let event = queuedEvent.event as? Event else { return }
        effects.add(try reduce(into: &state, event: event))
    }
}

/// The effects of one event, in the order of the reducers that ask for them.
public struct ReducerEffects: Sendable {
    /// Effects of one event type each.
    private var effects: [any ErasableEffect] = []

    /// Makes an empty list.
    public init() {}

    /// Adds what follows; it runs after the commit, at the same time as the effects of the event's other reducers.
    public mutating func add<Event: AppEvent>(_ effect: Effect<Event>) {
        guard !effect.isNone else { return }
        effects.append(effect)
    }

    /// All of them as one, whatever their event types.
    package var erased: Effect<ErasedEvent> { .merge(effects.map(\.erased)) }

    /// All of them as one; nil for one of another event type, which the app does not have.
    package func merged<Event: AppEvent>(as event: Event.Type) -> Effect<Event>? {
        guard !effects.isEmpty else { return Effect.none }
        let typed = effects.compactMap { $0 as? Effect<Event> }
        return typed.count == effects.count ? .merge(typed) : nil
    }
}
