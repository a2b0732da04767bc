import RivuletObservation

/// A state that knows the version of the documents that it is stored as.
///
/// An ``AppDefinition`` whose state is one has its version as `schemaVersion`.
public protocol VersionedState {
    /// The version of the stored document's shape, from 1.
    var version: Int { get }
}

extension AppState: VersionedState {
    /// That of the stored half.
    public var version: Int { p.version }
}

extension AppDefinition where State: VersionedState {
    /// That of the default state.
    public var schemaVersion: Int { defaultState.version }
}
