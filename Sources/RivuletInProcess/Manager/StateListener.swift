public import RivuletEngine

/// An object that receives every state.
///
/// Source: <Tests/Rows/Systems.md#d-17>.
public protocol StateListener: AnyObject, Sendable {
    /// The object that the listener fills with values of the state.
    associatedtype T

    /// True if the listener is no longer needed; it is removed at the next event.
    var zombie: Bool { get set }

    /// Receives a state: a ``StateHolder`` of the state's two types.
    func updateState(_ stateHolder: AnyObject)

    /// Creates the object that the listener fills from now on.
    func getStateObject() -> T
}

/// The state after one event; it never changes.
///
/// Listeners receive it as `AnyObject` and cast it to the type that they know. Source: <Tests/Rows/Systems.md#d-04>.
public final class StateHolder<P: PersistentState, T: Equatable & Sendable>: Sendable {
    /// The state.
    public let state: AppState<P, T>

    /// Creates a holder of a state.
    public init(state: AppState<P, T>) {
        self.state = state
    }
}
