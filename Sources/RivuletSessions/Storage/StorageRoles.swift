/// Keeps each session's log with its newest snapshot: every write of sessions, and the read that begins a session's time in memory.
///
/// The rules of `StorageEngine` about threads and order hold for every role.
public protocol LogStorage: Sendable {
    /// Reads the newest snapshot and every later entry; nil when there is no such session.
    ///
    /// Answers `.corrupt` when a part of this session is damaged; other sessions are not affected.
    func load(_ key: SessionKey, reply: @escaping StorageReply<StoredSession?>)

    /// Creates a session at version 0, with `snapshot` (of version 0) as its first state; nil: the app's default.
    ///
    /// `time` is in milliseconds since 1970-01-01T00:00:00Z. Durable when it is answered.
    func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        reply: @escaping StorageReply<CreateOutcome>
    )

    /// Appends entries and keeps answers, all or nothing; durable when it is answered.
    ///
    /// The versions are contiguous from the one after `point`; anything else is a conflict. An empty array leaves the log
    /// as it is and is answered as if it had not (but `.creating` still creates, and answers are kept).
    func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: KeptAnswers,
        reply: @escaping StorageReply<AppendOutcome>
    )

    /// Stores a snapshot of the state at `head.version` and lets go of the part of the log that nobody needs any more.
    ///
    /// Needed are the entries from `keepingFrom` on (0 and 1: all), but none that is older than `keepingSince`, which is in
    /// milliseconds since 1970-01-01T00:00:00Z. Entries are dropped up to the newest snapshot before what is needed, so that `past`
    /// can make the state before each kept entry; without such a snapshot none is dropped. Older snapshots go as well. An entry after
    /// this snapshot is never dropped, whatever the limits say.
    ///
    /// The snapshot takes the place of another one of its version and schema. One of its version and an older schema stays beside it, for
    /// `past`, as long as that version can be read; of several, the oldest schema's.
    ///
    /// `head` is the current head or an earlier one of the same epoch; anything else is a conflict. Durable when it is
    /// answered with the current head.
    func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keepingFrom: UInt64,
        keepingSince: Int64,
        reply: @escaping StorageReply<CompactionOutcome>
    )

    /// Deletes a session, its log, its snapshots and its kept answers; answers whether there was one. Durable when it is answered.
    func delete(_ key: SessionKey, reply: @escaping StorageReply<Bool>)
}

extension LogStorage {
    /// Appends entries, all or nothing, and keeps no answer; durable when it is answered.
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
    /// Reads entries with a version greater than `version`, oldest first, for a reader that comes back.
    ///
    /// There are at most `limit` (at least 1) entries, and fewer when they are large; at least one when there is any, so an empty
    /// array means that the reader is up to date. Nil: the session is gone or of another epoch, the entry after
    /// `version` was dropped, or `version` lies beyond the head.
    func history(
        _ key: SessionKey,
        epoch: String,
        after version: UInt64,
        limit: Int,
        reply: @escaping StorageReply<[LogEntry]?>
    )

    /// Reads what is needed to rebuild the state at `version`; nil when that is no longer (or not yet) possible.
    ///
    /// Possible is every version from the one before the oldest kept entry on. A version that has a snapshot of a later schema than the snapshot
    /// before it was stored in the older schema: the answer begins with that older snapshot.
    func past(
        _ key: SessionKey,
        epoch: String,
        at version: UInt64,
        reply: @escaping StorageReply<StoredPast?>
    )
}

/// Finds the answers that were kept with appends, for exact retries.
public protocol AnswerStorage: Sendable {
    /// Finds the answer that was kept under this id, for exact retries; nil when there is none.
    ///
    /// It may be older than any append has allowed: engines drop answers when it suits them.
    func keptAnswer(
        _ key: SessionKey,
        epoch: String,
        id: String,
        reply: @escaping StorageReply<KeptAnswer?>
    )

    /// Counts the answers that the session keeps of a time not before `time`, in milliseconds since 1970-01-01T00:00:00Z.
    func keptAnswers(
        _ key: SessionKey,
        epoch: String,
        since time: Int64,
        reply: @escaping StorageReply<KeptAnswersUsage>
    )
}

/// Lists sessions.
public protocol SessionDirectory: Sendable {
    /// Lists the sessions of an app whose id is greater than `id`, ordered by the bytes of their ids.
    func sessions(
        app: String,
        after id: String?,
        limit: Int,
        reply: @escaping StorageReply<[SessionSummary]>
    )
}

/// Starts and closes an engine, and says whether it works.
public protocol StorageLifecycle: Sendable {
    /// Opens the store, and refuses to run with one that is not safe; blocks, and is called once before anything else.
    ///
    /// - Throws: `.unavailable` when the store cannot be opened or belongs to another server, `.incompatible` when it
    ///   was written by a newer version or a setting is unsafe, `.corrupt` when it is damaged as a whole, `.closed`
    ///   after `close()`. The text names the place and the remedy.
    func start() throws(StorageError)

    /// Commits a small write of its own, to tell whether the engine can commit now.
    func probe(reply: @escaping StorageReply<Void>)

    /// Closes the store; blocks until every accepted request has been answered. Later requests answer `.closed`.
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

/// Where an append goes: after a known head, or into a session that it creates.
public enum AppendPoint: Hashable, Sendable {
    /// After this head; a head that is no longer the newest is a conflict.
    case after(SessionHead)
    /// Into a session that must not exist yet; creation and entries are one transaction.
    ///
    /// The entries start at version 1. `time` is the creation time in milliseconds since 1970-01-01T00:00:00Z;
    /// `snapshot`, when given, is the state at version 0.
    case creating(epoch: String, time: Int64, snapshot: StateSnapshot? = nil)
}

/// How an append ended when storage itself had no trouble.
public enum AppendOutcome: Hashable, Sendable {
    /// It is durable, and the log now ends here: acknowledge it and show it now.
    case committed(SessionHead)
    /// Nothing was written, because the log does not end where the caller thought: load again, then decide anew.
    case conflict
}

/// How a creation ended when storage itself had no trouble.
public enum CreateOutcome: Hashable, Sendable {
    /// The session is new and durable, at version 0.
    case created(SessionHead)
    /// The session was there already, with this head; nothing was written.
    case exists(SessionHead)
}

/// How a compaction ended when storage itself had no trouble.
public enum CompactionOutcome: Hashable, Sendable {
    /// The snapshot is durable; the log ends at this head, as before, and is kept from there.
    case compacted(SessionHead, retained: RetainedLog)
    /// Nothing was written, because the head is not of this log: load again, then decide anew.
    case conflict
}
