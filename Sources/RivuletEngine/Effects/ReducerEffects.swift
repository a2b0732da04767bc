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
