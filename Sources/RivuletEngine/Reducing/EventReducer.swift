/// A pure function from a state and an event to the next state.
///
/// Implement one of the methods. `reduce(into:queuedEvent:)` edits in place, so that a large state is not copied, and may
/// reject by throwing; `reduce(state:queuedEvent:)` is WAVE's by-value form. An ``EffectReducer`` also returns what follows. Reducers
/// may run again for the same event (a storage conflict), so they do nothing but change the state.
/// Source: <Tests/Rows/Systems.md#d-07>.
public protocol EventReducer<State>: Sendable {
    /// The state that it changes.
    associatedtype State

    /// Changes the state as the event asks; leaves it as it is for events that it does not know.
    ///
    /// - Throws: an ``EventRejection``: the state is put back and the dispatch answers 422 with the message. Any other error also puts it
    ///   back; it is logged, and the dispatch answers 500 without it.
    func reduce(into state: inout State, queuedEvent: QueuedEvent) throws

    /// Changes the state as the event asks, and adds what follows; the engine calls this form.
    ///
    /// - Throws: as `reduce(into:queuedEvent:)`.
    func reduce(into state: inout State, queuedEvent: QueuedEvent, effects: inout ReducerEffects) throws

    /// Returns the state as the event makes it; the same state for events that it does not know.
    func reduce(state: State, queuedEvent: QueuedEvent) -> State
}

extension EventReducer {
    /// Calls the form without effects.
    public func reduce(into state: inout State, queuedEvent: QueuedEvent, effects: inout ReducerEffects) throws {
        try reduce(into: &state, queuedEvent: queuedEvent)
    }

    /// Calls the by-value form.
    public func reduce(into state: inout State, queuedEvent: QueuedEvent) throws {
        state = reduce(state: state, queuedEvent: queuedEvent)
    }

    /// Stops: a reducer that has only the in-place form was called by value.
    public func reduce(state: State, queuedEvent: QueuedEvent) -> State {
        preconditionFailure(
            "\(Self.self) implements neither reduce(into:queuedEvent:) for the engine nor this by-value form"
        )
    }
}

/// Thrown by a reducer that does not accept an event; the state stays as it was.
public struct EventRejection: Error, Hashable, CustomStringConvertible {
    /// What the client reads in the answer's `detail`.
    public let message: String

    /// Rejects with a message for the client.
    public init(_ message: String) {
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
