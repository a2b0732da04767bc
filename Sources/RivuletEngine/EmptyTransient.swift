// Part of Rivulet. See README.md for the architecture.
// Owns the transient half of an app that has none.

public import RivuletObservation

/// A transient half without fields.
@ObservableState
public struct EmptyTransient: Equatable, Sendable {
    /// Makes the only value there is.
    public init() {}
}
