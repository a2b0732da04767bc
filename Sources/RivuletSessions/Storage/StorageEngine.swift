/// Receives the answer to one storage request, exactly once.
///
/// It is called on a thread of the engine; a request that needs no other (of an engine in memory, or refused: closed, queue full, too large) may be
/// answered on the caller's thread before the call returns. It must not block and must not call `close()`.
public typealias StorageReply<Value> = @Sendable (Result<Value, StorageError>) -> Void

/// Storage whose data is at a place that an operator can look at.
public protocol LocatedStorage {
    /// The place in a few words: the path of the data folder.
    var location: String { get }
}

/// Keeps the logs and snapshots of sessions.
///
/// An engine is a composition of roles. A type with every role conforms to `StorageRoles` and is its own log, past and so on. A wrapper
/// has a role of its own, and the others of the engine that it wraps:
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
/// Every method of a role may be called from any thread and returns without waiting for a disk or a network, except `start()`
/// and `close()`. Writes are answered in the order in which they were requested; reads may overtake writes that have
/// not been answered, and see every write that has. Reads are answered in any order.
///
/// A caller has at most one append per session under way: it queues what comes meanwhile and appends it as one array.
///
/// The roles and the capabilities are constant for the life of the engine. A server takes them before `start()`.
public protocol StorageEngine: Sendable {
    /// What this engine promises.
    var capabilities: StorageCapabilities { get }

    /// The sessions' logs and snapshots.
    var log: any LogStorage { get }

    /// The earlier entries and states of sessions.
    var past: any PastStorage { get }

    /// The kept answers, for exact retries.
    var answers: any AnswerStorage { get }

    /// The list of sessions.
    var directory: any SessionDirectory { get }

    /// The start, the end and the health of the engine.
    var lifecycle: any StorageLifecycle { get }
}

/// A storage engine whose deletions are answered before the bytes have left its files.
public protocol ErasingStorageEngine: StorageEngine {
    /// The number of deleted sessions whose text is still in the files; any thread may ask.
    var sessionsToEraseCount: Int { get }

    /// Warnings for the log of a start, each with its remedy: deleted text that may be in the files, and what other users may read.
    ///
    /// Right after `start()`.
    var startNotices: [String] { get }

    /// Has a closure called, on a thread of the engine, with a line for the log when a deleted session cannot be erased.
    ///
    /// It is set before `start()`, and must not block.
    func onErasingTrouble(_ report: @escaping @Sendable (String) -> Void)
}

/// What a storage engine promises; constant for the life of the engine.
public struct StorageCapabilities: Hashable, Sendable {
    /// The engine's name for logs and health answers: "memory", "sqlite".
    public let name: String
    /// Whether other processes may write to the same sessions; conflicts are then ordinary.
    public let isShared: Bool
    /// The largest `LogEntry.byteCount` that can be stored, in bytes.
    public let entryBytesMax: Int
    /// The largest `StateSnapshot.state` that can be stored, in bytes before any compression.
    public let snapshotBytesMax: Int
    /// Whether a committed append is still there after a power cut.
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
