/// The persistent state of a session as it was at one version.
public struct StateSnapshot: Hashable, Sendable {
    /// The version after which the state is as described here; 0 for a state that the session was created with.
    public let version: UInt64
    /// The app's number for the layout of `state`, 1 or more; a later layout has a larger one.
    public let schema: UInt32
    /// The persistent state as UTF-8 JSON.
    public let state: [UInt8]

    /// Describes the state at `version`.
    public init(version: UInt64, schema: UInt32, state: [UInt8]) {
        self.version = version
        self.schema = schema
        self.state = state
    }
}
