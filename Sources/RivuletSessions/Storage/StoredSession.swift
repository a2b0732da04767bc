/// The data that brings a session back into memory.
public struct StoredSession: Hashable, Sendable {
    /// The end of the log; the next append goes after it.
    public let head: SessionHead
    /// The time at which the session was created, in milliseconds since 1970-01-01T00:00:00Z.
    public let created: Int64
    /// The time of the newest entry, or `created` if there is none; milliseconds since 1970-01-01T00:00:00Z.
    public let updated: Int64
    /// The newest snapshot; nil if the state at version 0 is the app's default.
    public let snapshot: StateSnapshot?
    /// The entries after the snapshot, contiguous from `snapshot.version + 1` (or 1) to `head.version`.
    public let tail: [LogEntry]
    /// The beginning of the kept entries.
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

    /// The bytes of JSON from which the state is made.
    var byteCount: Int { tail.reduce(snapshot?.state.count ?? 0) { $0 + $1.changes.count } }
}

/// The beginning of the kept part of a session's log.
public struct RetainedLog: Hashable, Sendable {
    /// The oldest version with a kept entry; the version after the head's if no entry is kept.
    ///
    /// It may precede the newest snapshot, because entries are kept longer, for streams that resume and for reads of
    /// earlier versions.
    public let from: UInt64
    /// The time of that entry, in milliseconds since 1970-01-01T00:00:00Z; nil if no entry is kept.
    public let since: Int64?
    /// The bytes of the kept entries; nil if they were not counted.
    public let bytes: Int?

    /// Describes the beginning of a log.
    public init(from: UInt64, since: Int64?, bytes: Int? = nil) {
        self.from = from
        self.since = since
        self.bytes = bytes
    }
}

/// The conditions that an entry of a log must meet to be needed; all three must hold.
public struct LogKeeping: Hashable, Sendable {
    /// The version of the first needed entry; 0 and 1 both mean the first entry of the log.
    public let from: UInt64
    /// The earliest time of a needed entry, in milliseconds since 1970-01-01T00:00:00Z.
    public let since: Int64
    /// The most bytes (`LogEntry.byteCount`) of all needed entries together, counted from the newest entry.
    ///
    /// Nil means that there is no limit of bytes, and that the bytes are not counted.
    public let bytes: Int?

    /// Describes the needed entries.
    public init(from: UInt64, since: Int64 = .min, bytes: Int? = nil) {
        self.from = from
        self.since = since
        self.bytes = bytes
    }

    /// The oldest version from which all entries up to the newest one fit in `bytes` together.
    ///
    /// `sizes` has the entries from the newest one to the oldest.
    package func firstWithinBytes(_ sizes: some Sequence<(version: UInt64, bytes: Int)>) -> UInt64 {
        guard let most = bytes else { return 1 }
        var total = 0
        for (version, bytes) in sizes {
            total += bytes
            if total > most { return version + 1 }
        }
        return 1
    }
}

/// The data that rebuilds the state of a session at one version of its past.
public struct StoredPast: Hashable, Sendable {
    /// The newest snapshot at or before that version, in the schema in which the version was stored.
    ///
    /// Nil means that the entries begin with the app's default, at version 0.
    public let snapshot: StateSnapshot?
    /// The entries after the snapshot, contiguous, up to and including that version.
    public let entries: [LogEntry]

    /// Describes the snapshot and the entries that lead to one version.
    public init(snapshot: StateSnapshot?, entries: [LogEntry]) {
        self.snapshot = snapshot
        self.entries = entries
    }

    /// The bytes of JSON from which the state is made.
    var byteCount: Int { entries.reduce(snapshot?.state.count ?? 0) { $0 + $1.changes.count } }
}

/// The stored half of a session's state, as it was at one version.
public struct StateSnapshot: Hashable, Sendable {
    /// The version at which the session had this state; 0 for a state with which the session was created.
    public let version: UInt64
    /// The app's schema version for the layout of `state`, 1 or more; a later layout has a larger number.
    public let schema: UInt32
    /// The stored half of the state as UTF-8 JSON.
    public let state: [UInt8]

    /// Describes the state at `version`.
    public init(version: UInt64, schema: UInt32, state: [UInt8]) {
        self.version = version
        self.schema = schema
        self.state = state
    }
}
