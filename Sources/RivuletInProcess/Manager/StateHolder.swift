public import RivuletEngine

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
