public import RivuletObservation

/// A transient half without fields.
@ObservableState
public struct EmptyTransient: Equatable, Sendable {
    /// Makes the only value there is.
    public init() {}
}
