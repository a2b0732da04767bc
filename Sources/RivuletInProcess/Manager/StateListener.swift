public import RivuletEngine

/// An object that is handed every state.
///
/// Source: <Tests/Rows/Systems.md#d-17>.
public protocol StateListener: AnyObject, Sendable {
    /// What the listener fills with values of the state.
    associatedtype T

    /// Whether nobody needs the listener any more; it is removed at the next event then.
    var zombie: Bool { get set }

    /// Takes a state: a ``StateHolder`` of the state's two types.
    func updateState(_ stateHolder: AnyObject)

    /// Makes the object that the listener fills from now on.
    func getStateObject() -> T
}

/// A state as it was after one event; it never changes.
///
/// Listeners get it as `AnyObject` and cast it to the type that they know. Source: <Tests/Rows/Systems.md#d-04>.
public final class StateHolder<P: PersistentState, T: Equatable & Sendable>: Sendable {
    /// The state.
    public let state: AppState<P, T>

    /// Holds a state.
    public init(state: AppState<P, T>) {
        self.state = state
    }
}
