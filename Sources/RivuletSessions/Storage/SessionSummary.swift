/// One session in a list of sessions.
public struct SessionSummary: Hashable, Sendable {
    /// The id of the session within its app.
    public let id: String
    /// The token of this history of the session.
    public let epoch: String
    /// The version of the last durable entry.
    public let version: UInt64
    /// The time at which the session was created, in milliseconds since 1970-01-01T00:00:00Z.
    public let created: Int64
    /// The time of the newest entry, or `created` if there is none; milliseconds since 1970-01-01T00:00:00Z.
    public let updated: Int64

    /// Describes one session of a list.
    public init(id: String, epoch: String, version: UInt64, created: Int64, updated: Int64) {
        self.id = id
        self.epoch = epoch
        self.version = version
        self.created = created
        self.updated = updated
    }
}
