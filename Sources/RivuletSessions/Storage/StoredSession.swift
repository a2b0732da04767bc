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

/// The beginning of what is kept of a session's log.
public struct RetainedLog: Hashable, Sendable {
    /// The oldest version whose entry is kept; one after the head's when none is.
    ///
    /// It may lie before the newest snapshot, because entries are kept longer for returning readers and for the past.
    public let from: UInt64
    /// The time of that entry, in milliseconds since 1970-01-01T00:00:00Z; nil when no entry is kept.
    public let since: Int64?

    /// Describes where a log begins.
    public init(from: UInt64, since: Int64?) {
        self.from = from
        self.since = since
    }
}

/// What is needed to rebuild the state of a session at one version of its past.
public struct StoredPast: Hashable, Sendable {
    /// The newest snapshot at or before that version, of the schema in which the version was stored; nil: start from the app's default at version 0.
    public let snapshot: StateSnapshot?
    /// The entries after the snapshot, contiguous, up to and including that version.
    public let entries: [LogEntry]

    /// Describes the way to one version.
    public init(snapshot: StateSnapshot?, entries: [LogEntry]) {
        self.snapshot = snapshot
        self.entries = entries
    }
}

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
