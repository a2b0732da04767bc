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
