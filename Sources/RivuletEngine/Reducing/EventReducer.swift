/// A pure function from a state and an event to the next state.
///
/// Implement one of the methods. `reduce(into:queuedEvent:)` edits in place, so that a large state is not copied, and
/// can throw to reject an event. `reduce(state:queuedEvent:)` is WAVE's by-value form. An ``EffectReducer`` also
/// returns an effect. Reducers may run again for the same event (after a storage conflict), so they must change
/// nothing but the state.
/// Source: <Tests/Rows/Systems.md#d-07>.
public protocol EventReducer<State>: Sendable {
    /// The state that the reducer changes.
    associatedtype State

    /// Applies the event to the state.
    ///
    /// Unknown events leave the state unchanged.
    ///
    /// - Throws: A ``RejectionError``: the state is restored, and the dispatch answers 422 with the message. Any
    ///   other error also restores the state. It is logged, and the dispatch answers 500 without the error's text.
    func reduce(into state: inout State, queuedEvent: QueuedEvent) throws

    /// Applies the event to the state, and adds its effects; the engine calls this form.
    ///
    /// - Throws: The same errors as `reduce(into:queuedEvent:)`.
    func reduce(into state: inout State, queuedEvent: QueuedEvent, effects: inout ReducerEffects) throws

    /// Returns the state after the event; the same state for unknown events.
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

    /// Stops the process: a reducer that has only the in-place form was called by value.
    public func reduce(state: State, queuedEvent: QueuedEvent) -> State {
        preconditionFailure(
            "\(Self.self) does not implement reduce(state:queuedEvent:); call or implement reduce(into:queuedEvent:)"
        )
    }
}

/// An error that a reducer throws to reject an event; the state stays unchanged.
public struct RejectionError: Error, Hashable, CustomStringConvertible {
    /// The message for the client, in the answer's `detail`.
    public let message: String

    /// Creates a rejection with a message for the client.
    public init(_ message: String) {
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
