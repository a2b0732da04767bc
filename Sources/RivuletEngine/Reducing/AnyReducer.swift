/// Any reducer of one state type.
///
/// Source: <Tests/Rows/Systems.md#d-07>, D-08.
public struct AnyReducer<State>: EventReducer {
    let body: @Sendable (inout State, QueuedEvent, inout ReducerEffects) throws -> Void

    /// Wraps a reducer.
    public init(_ reducer: some EventReducer<State>) {
        body = { state, queuedEvent, effects in
            try reducer.reduce(into: &state, queuedEvent: queuedEvent, effects: &effects)
        }
    }

    /// Makes a reducer of one event type from a closure; events of other types pass by.
    public init<Event: AppEvent>(
        _ event: Event.Type,
        _ reduce: @escaping @Sendable (_ state: inout State, _ event: Event) throws -> Void
    ) {
        body = { state, queuedEvent, _ in
            // No `as?`, which makes an optional of a type that is not known here.
            guard case let event as Event = queuedEvent.event else { return }
            try reduce(&state, event)
        }
    }

    /// Makes a reducer of one event type from a closure that also says what follows; events of other types pass by.
    ///
    /// It has a label of its own, because a closure that returns an effect also passes for one whose result is ignored.
    public init<Event: AppEvent>(
        effectsOf event: Event.Type,
        _ reduce: @escaping @Sendable (_ state: inout State, _ event: Event) throws -> Effect<Event>
    ) {
        body = { state, queuedEvent, effects in
            guard case let event as Event = queuedEvent.event else { return }
            effects.add(try reduce(&state, event))
        }
    }

    /// Changes the state as the wrapped reducer does; what it wants done afterwards is left out.
    public func reduce(into state: inout State, queuedEvent: QueuedEvent) throws {
        var effects = ReducerEffects()
        try body(&state, queuedEvent, &effects)
    }

    /// Changes the state as the wrapped reducer does, and adds what it wants done afterwards.
    public func reduce(into state: inout State, queuedEvent: QueuedEvent, effects: inout ReducerEffects) throws {
        try body(&state, queuedEvent, &effects)
    }
}
