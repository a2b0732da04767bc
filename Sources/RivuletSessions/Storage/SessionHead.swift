/// The end of a session's durable log, and the handle for a compare-and-set on it.
public struct SessionHead: Hashable, Sendable {
    /// The token of this history of the session, `[a-z0-9]{8}`.
    ///
    /// A session that was deleted and created again has another epoch, so a stale writer cannot append to it.
    public let epoch: String
    /// The version of the last durable entry; 0 for a session that was only created.
    public let version: UInt64
    /// The engine's own handle for the compare-and-set: keep it, pass it back, and never calculate with it.
    public let token: UInt64

    /// Describes a head; only storage engines make heads.
    public init(epoch: String, version: UInt64, token: UInt64) {
        self.epoch = epoch
        self.version = version
        self.token = token
    }
}
