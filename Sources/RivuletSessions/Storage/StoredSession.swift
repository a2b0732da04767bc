/// Everything that is needed to bring a session back into memory.
public struct StoredSession: Hashable, Sendable {
    /// The end of the log; the next append goes after it.
    public let head: SessionHead
    /// When the session was created, in milliseconds since 1970-01-01T00:00:00Z.
    public let created: Int64
    /// The time of the newest entry, or `created` when there is none; milliseconds since 1970-01-01T00:00:00Z.
    public let updated: Int64
    /// The newest snapshot; nil: the state at version 0 is the app's default.
    public let snapshot: StateSnapshot?
    /// The entries after the snapshot, contiguous from `snapshot.version + 1` (or 1) to `head.version`.
    public let tail: [LogEntry]
    /// Where the kept entries begin.
    public let retained: RetainedLog

    /// Describes a session as stored.
    public init(
        head: SessionHead,
        created: Int64,
        updated: Int64,
        snapshot: StateSnapshot?,
        tail: [LogEntry],
        retained: RetainedLog
    ) {
        self.head = head
        self.created = created
        self.updated = updated
        self.snapshot = snapshot
        self.tail = tail
        self.retained = retained
    }
}
