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

    /// Creates a reducer of one event type from a closure.
    ///
    /// It ignores events of other types.
    public init<Event: AppEvent>(
        _ event: Event.Type,
        _ reduce: @escaping @Sendable (_ state: inout State, _ event: Event) throws -> Void
    ) {
        body = { state, queuedEvent, _ in
            try give(queuedEvent.event, to: { try reduce(&state, $0) })
        }
    }

    /// Creates a reducer of one event type from a closure that also returns an effect.
    ///
    /// It ignores events of other types.
    ///
    /// The label distinguishes this initialiser from the other one, which would also accept the closure and ignore its
    /// result.
    public init<Event: AppEvent>(
        effectsOf event: Event.Type,
        _ reduce: @escaping @Sendable (_ state: inout State, _ event: Event) throws -> Effect<Event>
    ) {
        body = { state, queuedEvent, effects in
            try give(queuedEvent.event, to: { effects.add(try reduce(&state, $0)) })
        }
    }

    /// Changes the state with the wrapped reducer and discards its effects.
    public func reduce(into state: inout State, queuedEvent: QueuedEvent) throws {
        var effects = ReducerEffects()
        try body(&state, queuedEvent, &effects)
    }

    /// Changes the state with the wrapped reducer and adds its effects.
    public func reduce(into state: inout State, queuedEvent: QueuedEvent, effects: inout ReducerEffects) throws {
        try body(&state, queuedEvent, &effects)
    }
}

/// Passes an event to the body if it has the body's event type.
private func give<Given: AppEvent, Event: AppEvent>(_ event: Given, to body: (Event) throws -> Void) rethrows {
    // Nearly every event has exactly that type. A cast would make an optional of a type that is unknown here, which
    // takes 700 instructions.
    if Given.self == Event.self {
        // SAFETY: both are one type.
        return try body(unsafe unsafeBitCast(event, to: Event.self))
    }
    guard case let event as Event = event else { return }
    try body(event)
}
