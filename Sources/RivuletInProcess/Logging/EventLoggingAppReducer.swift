public import RivuletEngine

/// Runs an ``EventLoggingReducer`` on a field of a state.
public struct EventLoggingAppReducer<State>: EventReducer {
    private let keyPath: any WritableKeyPath<State, EventLoggingState> & Sendable
    private let reducer: EventLoggingReducer

    /// Logs into this field.
    public init(
        keyPath: any WritableKeyPath<State, EventLoggingState> & Sendable,
        reducer: EventLoggingReducer = EventLoggingReducer()
    ) {
        self.keyPath = keyPath
        self.reducer = reducer
    }

    /// Adds the event to the field.
    public func reduce(into state: inout State, queuedEvent: QueuedEvent) {
        reducer.reduce(into: &state[keyPath: keyPath], queuedEvent: queuedEvent)
    }
}
