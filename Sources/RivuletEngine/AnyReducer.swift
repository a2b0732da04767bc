// Part of Rivulet. See README.md for the architecture.
// Owns the erased form in which an app lists its reducers.

/// Any reducer of one state type.
///
/// Source: spec/systems.md D-07, D-08.
public struct AnyReducer<State>: EventReducer {
    private let body: @Sendable (inout State, QueuedEvent) throws -> Void

    /// Wraps a reducer.
    public init(_ reducer: some EventReducer<State>) {
        body = { state, queuedEvent in try reducer.reduce(into: &state, queuedEvent: queuedEvent) }
    }

    /// Makes a reducer of one event type from a closure; events of other types pass by.
    public init<Event: AppEvent>(
        _ event: Event.Type,
        _ reduce: @escaping @Sendable (_ state: inout State, _ event: Event) throws -> Void
    ) {
        body = { state, queuedEvent in
            guard let event = queuedEvent.event as? Event else { return }
            try reduce(&state, event)
        }
    }

    /// Changes the state as the wrapped reducer does.
    public func reduce(into state: inout State, queuedEvent: QueuedEvent) throws {
        try body(&state, queuedEvent)
    }
}
