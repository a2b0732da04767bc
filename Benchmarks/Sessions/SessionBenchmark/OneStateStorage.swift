// Owns the storage, the thread and the streams of a session. They use no memory, so only the session's is measured.

import RivuletEngine
import RivuletJSON
import RivuletSessions

/// Answers every load with the same state, accepts every append, and stores nothing.
struct OneStateStorage: StorageEngine, LogStorage {
    let capabilities = StorageCapabilities(
        name: "one state",
        isShared: false,
        entryBytesMax: .max,
        snapshotBytesMax: .max,
        survivesPowerLoss: true
    )
    let title: String

    /// The roles that no session of the benchmark uses.
    private let rest = MemoryStorageEngine()
    var past: any PastStorage { rest }
    var answers: any AnswerStorage { rest }
    var directory: any SessionDirectory { rest }
    var lifecycle: any StorageLifecycle { rest }

    init(title: String) { self.title = title }

    func load(_ key: SessionKey, reply: @escaping StorageReply<StoredSession?>) {
        // The snapshot is created at each load, because a shared one would cost nothing.
        let state = Array(#"{"p":{"count":1,"title":"\#(title)"}}"#.utf8)
        reply(
            .success(
                StoredSession(
                    head: SessionHead(epoch: "aaaaaaaa", version: 1, token: 1),
                    created: 0,
                    updated: 0,
                    snapshot: StateSnapshot(version: 1, schema: 1, state: state),
                    tail: [],
                    retained: RetainedLog(from: 1, since: 0)
                )
            )
        )
    }

    func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: IdempotencyRecords,
        reply: @escaping StorageReply<AppendOutcome>
    ) {
        guard case .after(let head) = point else { return reply(.success(.conflict)) }
        let version = head.version + UInt64(entries.count)
        reply(.success(.committed(SessionHead(epoch: head.epoch, version: version, token: 1))))
    }

    func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        owner: String?,
        reply: @escaping StorageReply<CreateOutcome>
    ) { reply(.failure(.closed)) }

    func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keeping: LogKeeping,
        reply: @escaping StorageReply<CompactionOutcome>
    ) { reply(.failure(.closed)) }

    func delete(_ key: SessionKey, reply: @escaping StorageReply<Bool>) { reply(.failure(.closed)) }
}

/// Runs every job at once.
final class DirectExecutor: SessionExecutor {
    var isCurrent: Bool { true }

    func post(_ job: @escaping @Sendable () -> Void) -> Bool {
        job()
        return true
    }
}

/// Discards all events.
final class SilentSink: StreamSink {
    func preparation(isCompressed: Bool) -> @Sendable (_ snapshot: StreamEvent) -> Void { { _ in } }

    func join(
        _ stream: StreamID,
        at slot: StreamSlot,
        session: SessionKey,
        topic: StreamTopic,
        first: [StreamEvent],
        cursor: Cursor,
        resumesAll: Bool
    ) {}

    func deliver(_ event: StreamEvent, to group: GroupID, loops: [Int]) {}
    func end(_ group: GroupID, because reason: StreamEvent.ByeReason, loops: [Int]) {}
    func refuse(_ stream: StreamID, with error: SessionStreamError) {}
}
