public import RivuletBase

/// Receives the answer to one storage request, exactly once.
///
/// The reply is called on a thread of the engine. If a request needs no other thread, the reply may be called on the
/// caller's thread before the request returns. An engine in memory answers in this way, and other engines refuse
/// requests in this way (closed, queue full, too large). The reply must not block and must not call `close()`.
public typealias StorageReply<Value> = @Sendable (Result<Value, StorageError>) -> Void

/// Storage with data at a location that an operator can inspect.
public protocol LocatedStorage {
    /// The location in a few words: the path of the data folder.
    var location: String { get }
}

/// Keeps the logs and snapshots of sessions.
///
/// An engine is a composition of roles. A type with every role conforms to `StorageRoles`, and is its own log, its own
/// past and so on. An engine that changes one role of another engine takes the other roles from that engine:
///
/// ```swift
/// struct CountedReads: StorageEngine {
///     let engine: any StorageEngine
///     let past: any PastStorage
///     var capabilities: StorageCapabilities { engine.capabilities }
///     var log: any LogStorage { engine.log }
///     var answers: any AnswerStorage { engine.answers }
///     var directory: any SessionDirectory { engine.directory }
///     var lifecycle: any StorageLifecycle { engine.lifecycle }
/// }
/// ```
///
/// Every method of a role may be called from any thread. It returns without waiting for a disk or a network; only
/// `start()` and `close()` wait. Writes are answered in the order in which they were requested. Reads may overtake
/// unanswered writes, and see every answered write. Reads are answered in any order.
///
/// A caller has at most one append per session under way. It queues entries that come meanwhile, and appends them as
/// one array.
///
/// The roles and the capabilities are constant for the life of the engine. A server takes them before `start()`.
public protocol StorageEngine: Sendable {
    /// The properties and limits of this engine.
    var capabilities: StorageCapabilities { get }

    /// The sessions' logs and snapshots.
    var log: any LogStorage { get }

    /// The earlier entries and states of sessions.
    var past: any PastStorage { get }

    /// The idempotency records, for exact retries.
    var answers: any AnswerStorage { get }

    /// The list of sessions.
    var directory: any SessionDirectory { get }

    /// The start, the end and the health of the engine.
    var lifecycle: any StorageLifecycle { get }
}

/// A storage engine that keeps sessions in memory.
public protocol MemoryHoldingStorage: StorageEngine {
    /// The approximate memory of sessions, their logs and their idempotency records, in bytes; any thread may read it.
    var memoryBytes: Int { get }
}

/// A storage engine that keeps apps and owners within their quotas.
public protocol QuotaStorageEngine: StorageEngine {
    /// Sets the quotas by the names of apps; it is called once, before `start()`.
    ///
    /// From then on, the engine counts the sessions of these apps in the transactions that write them. A creation or an
    /// append that would exceed a limit answers `.quota`. Compactions and deletions are never refused.
    ///
    /// - Throws: `.incompatible` if the engine cannot keep quotas.
    func setQuotas(_ quotas: [String: StorageQuota]) throws(StorageError)
}

/// A storage engine that answers deletions before the bytes have left its files.
public protocol ErasingStorageEngine: StorageEngine {
    /// The number of deleted sessions with text that is still in the files; any thread may read it.
    var sessionsToEraseCount: Int { get }

    /// Warnings to log when the server starts, each with its remedy: deleted text that may be in the files, and data
    /// that other users may read.
    ///
    /// They are valid right after `start()`.
    var startNotices: [String] { get }

    /// Sets the closure that reports, with a line for the log, that a deleted session cannot be erased.
    ///
    /// It is set before `start()`, is called on a thread of the engine, and must not block.
    func onErasingTrouble(_ report: @escaping @Sendable (String) -> Void)
}

/// A storage engine that checks at its start for traces of a crash or of damage.
public protocol RecoveringStorageEngine: StorageEngine {
    /// The findings of the last `start()`.
    var recovery: StorageRecovery { get }
}

/// Lines for the log about the start of a storage engine.
public struct StorageRecovery: Hashable, Sendable {
    /// A commit that was not finished when the last run ended; nil if there was none.
    public var information: String?
    /// Damage, with the remedy; nil if there was none.
    public var warning: String?

    /// Describes the findings of a start; by default there are none.
    public init(information: String? = nil, warning: String? = nil) {
        self.information = information
        self.warning = warning
    }
}

/// The properties and limits of a storage engine; constant for the life of the engine.
public struct StorageCapabilities: Hashable, Sendable {
    /// The engine's name for logs and health answers: "memory", "sqlite".
    public let name: String
    /// True if other processes may write to the same sessions; conflicts are ordinary then.
    public let isShared: Bool
    /// The largest `LogEntry.byteCount` that can be stored, in bytes.
    public let entryBytesMax: Int
    /// The largest `StateSnapshot.state` that can be stored, in bytes before any compression.
    public let snapshotBytesMax: Int
    /// True if a committed append survives a power cut.
    public let survivesPowerLoss: Bool

    /// Describes an engine.
    public init(name: String, isShared: Bool, entryBytesMax: Int, snapshotBytesMax: Int, survivesPowerLoss: Bool) {
        self.name = name
        self.isShared = isShared
        self.entryBytesMax = entryBytesMax
        self.snapshotBytesMax = snapshotBytesMax
        self.survivesPowerLoss = survivesPowerLoss
    }
}
