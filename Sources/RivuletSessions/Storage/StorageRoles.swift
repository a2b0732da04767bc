/// Keeps each session's log with its newest snapshot.
///
/// This role has all writes of sessions, and the read that loads a session into memory.
///
/// The rules of `StorageEngine` about threads and order hold for every role.
public protocol LogStorage: Sendable {
    /// Reads the newest snapshot and every later entry; nil if there is no such session.
    ///
    /// Answers `.corrupt` if a part of this session is damaged; other sessions are not affected.
    func load(_ key: SessionKey, reply: @escaping StorageReply<StoredSession?>)

    /// Creates a session at version 0.
    ///
    /// `snapshot` is the state at version 0; without it, that state is the app's default.
    ///
    /// `time` is in milliseconds since 1970-01-01T00:00:00Z. `owner` is the caller that creates the session, as
    /// `Caller.me` names it; nil if the session has no owner. The session is durable when the request is answered.
    func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        owner: String?,
        reply: @escaping StorageReply<CreateOutcome>
    )

    /// Appends entries and keeps idempotency records, all or nothing; both are durable when the request is answered.
    ///
    /// The versions are contiguous and begin after `point`; anything else is a conflict. An empty array leaves the log
    /// unchanged, and is answered like any append. With `.creating`, an empty array creates the session too. The
    /// idempotency records are kept in any case.
    func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: IdempotencyRecords,
        reply: @escaping StorageReply<AppendOutcome>
    )

    /// Stores a snapshot of the state at `head.version` and drops the part of the log that is not needed any more.
    ///
    /// `keeping` says which entries are needed. Entries are dropped only up to the newest snapshot before the needed
    /// entries, so that `past` can make the state before each kept entry. Without such a snapshot no entry is dropped.
    /// Older snapshots are dropped as well. An entry after this snapshot is never dropped, even if `keeping` does not
    /// need it.
    ///
    /// The snapshot replaces a stored snapshot with the same version and schema. A stored snapshot with the same
    /// version and an older schema stays, for `past`, as long as that version can be read. Of several such snapshots,
    /// only the one with the oldest schema stays.
    ///
    /// `head` is the current head or an earlier one of the same epoch; anything else is a conflict. The request is
    /// answered with the current head, and the snapshot is durable then.
    func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keeping: LogKeeping,
        reply: @escaping StorageReply<CompactionOutcome>
    )

    /// Deletes a session with its log, its snapshots and its idempotency records, and answers true if there was one.
    ///
    /// The deletion is durable when the request is answered.
    func delete(_ key: SessionKey, reply: @escaping StorageReply<Bool>)
}

extension LogStorage {
    /// Creates a session without an owner.
    public func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        reply: @escaping StorageReply<CreateOutcome>
    ) {
        create(key, epoch: epoch, time: time, snapshot: snapshot, owner: nil, reply: reply)
    }

    /// Appends entries, all or nothing, and keeps no idempotency record; the entries are durable when the request is
    /// answered.
    public func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        reply: @escaping StorageReply<AppendOutcome>
    ) {
        append(key, at: point, entries, keeping: .none, reply: reply)
    }
}

/// Reads the entries and states of a session's past.
public protocol PastStorage: Sendable {
    /// Reads entries with a version greater than `version`, oldest first, for a reader that resumes.
    ///
    /// The answer has at most `limit` entries (but at least 1 if there is a later entry), and fewer if they are large.
    /// So an empty array means that the reader is up to date. The answer is nil if the session is gone or has another
    /// epoch. It is also nil if the entry after `version` was dropped, or if `version` lies beyond the head.
    func history(
        _ key: SessionKey,
        epoch: String,
        after version: UInt64,
        limit: Int,
        reply: @escaping StorageReply<[LogEntry]?>
    )

    /// Reads the data that rebuilds the state at `version`; nil if that is no longer (or not yet) possible.
    ///
    /// The oldest version that can be rebuilt is the version before the oldest kept entry. If a version has a snapshot
    /// of a later schema than the snapshot before it, the version was stored in the older schema. The answer then
    /// begins with the older snapshot.
    func past(
        _ key: SessionKey,
        epoch: String,
        at version: UInt64,
        reply: @escaping StorageReply<StoredPast?>
    )
}

/// Finds the idempotency records that were kept with appends, for exact retries.
public protocol AnswerStorage: Sendable {
    /// Finds the idempotency record that was kept under this id, for exact retries; nil if there is none.
    ///
    /// The record may be older than `IdempotencyRecords.droppingBefore` of earlier appends, because an engine may drop
    /// records later.
    func idempotencyRecord(
        _ key: SessionKey,
        epoch: String,
        id: String,
        reply: @escaping StorageReply<IdempotencyRecord?>
    )

    /// Counts the session's idempotency records of `time` or later, in milliseconds since 1970-01-01T00:00:00Z.
    func idempotencyRecords(
        _ key: SessionKey,
        epoch: String,
        since time: Int64,
        reply: @escaping StorageReply<IdempotencyUsage>
    )
}

/// Lists sessions.
public protocol SessionDirectory: Sendable {
    /// Lists the sessions of an app with an id greater than `id`, ordered by the bytes of their ids.
    ///
    /// With an owner, the list has this owner's sessions only, and its cost does not depend on the other sessions.
    func sessions(
        app: String,
        owner: String?,
        after id: String?,
        limit: Int,
        reply: @escaping StorageReply<[SessionSummary]>
    )
}

extension SessionDirectory {
    /// Lists the sessions of all owners, and sessions without an owner.
    public func sessions(
        app: String,
        after id: String?,
        limit: Int,
        reply: @escaping StorageReply<[SessionSummary]>
    ) {
        sessions(app: app, owner: nil, after: id, limit: limit, reply: reply)
    }
}

/// Starts and closes an engine, and probes it.
public protocol StorageLifecycle: Sendable {
    /// Opens the stored data, or refuses it if it is unsafe; blocks, and is called once before anything else.
    ///
    /// - Throws: `.unavailable` if the data cannot be opened or belongs to another server. `.incompatible` if a newer
    ///   version wrote the data or a setting is unsafe. `.corrupt` if the data as a whole is damaged. `.closed` after
    ///   `close()`. The text names the location and the remedy.
    func start() throws(StorageError)

    /// Commits a small write of its own, to test that the engine can commit now.
    func probe(reply: @escaping StorageReply<Void>)

    /// Closes the engine; blocks until every accepted request has been answered.
    ///
    /// Later requests answer `.closed`.
    func close()
}

/// A storage engine that has every role itself.
public typealias StorageRoles = StorageEngine & LogStorage & PastStorage & AnswerStorage & SessionDirectory
    & StorageLifecycle

extension StorageEngine where Self: LogStorage {
    /// The engine itself.
    public var log: any LogStorage { self }
}

extension StorageEngine where Self: PastStorage {
    /// The engine itself.
    public var past: any PastStorage { self }
}

extension StorageEngine where Self: AnswerStorage {
    /// The engine itself.
    public var answers: any AnswerStorage { self }
}

extension StorageEngine where Self: SessionDirectory {
    /// The engine itself.
    public var directory: any SessionDirectory { self }
}

extension StorageEngine where Self: StorageLifecycle {
    /// The engine itself.
    public var lifecycle: any StorageLifecycle { self }
}

/// The point at which an append begins: after a known head, or in a session that it creates.
public enum AppendPoint: Hashable, Sendable {
    /// After this head; a head that is no longer the newest is a conflict.
    case after(SessionHead)
    /// In a session that must not exist yet; creation and entries are one transaction.
    ///
    /// The entries start at version 1. `time` is the creation time in milliseconds since 1970-01-01T00:00:00Z;
    /// `snapshot`, when given, is the state at version 0. `owner` is the caller that creates the session, if it has a
    /// name.
    case creating(epoch: String, time: Int64, snapshot: StateSnapshot? = nil, owner: String? = nil)
}

/// The outcome of an append if storage itself had no error.
public enum AppendOutcome: Hashable, Sendable {
    /// The entries are durable, and the log now ends at this head: acknowledge and show them now.
    case committed(SessionHead)
    /// Nothing was written, because the log does not end at the given point: load the session again, then decide again.
    case conflict
}

/// The outcome of a creation if storage itself had no error.
public enum CreateOutcome: Hashable, Sendable {
    /// The session is new and durable, at version 0.
    case created(SessionHead)
    /// The session exists already, with this head; nothing was written.
    case exists(SessionHead)
}

/// The outcome of a compaction if storage itself had no error.
public enum CompactionOutcome: Hashable, Sendable {
    /// The snapshot is durable; the log still ends at this head, and `retained` is its kept part.
    case compacted(SessionHead, retained: RetainedLog)
    /// Nothing was written, because the head is not of this log: load the session again, then decide again.
    case conflict
}
