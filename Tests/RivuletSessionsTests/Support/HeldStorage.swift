// The storage of the sessions' tests. It holds answers back, counts them and makes them fail.

import CounterFixture
import Dispatch
import Logging
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Synchronization

/// A memory engine with appends that a test can hold back or make fail.
final class HeldStorage: StorageEngine, LogStorage, PastStorage, AnswerStorage, SessionDirectory {
    private struct State {
        var isHolding = false
        var held: [@Sendable () -> Void] = []
        var failure: StorageError?
        var compactionFailure: StorageError?
        var loadFailure: StorageError?
        var sessionsFailure: StorageError?
        var damaged: Set<SessionKey> = []
        var loads = 0
        var isNextInDoubt = false
        var appends = 0
        var historyEntriesMax = Int.max
        var isHoldingReads = false
        var heldReads: [@Sendable () -> Void] = []
    }

    let engine = MemoryStorageEngine()
    var lifecycle: any StorageLifecycle { engine }
    private let state = Mutex(State())

    /// The capabilities of an engine on disk.
    let capabilities = StorageCapabilities(
        name: "held",
        isShared: false,
        entryBytesMax: 16_777_216,
        snapshotBytesMax: 16_777_216,
        survivesPowerLoss: true
    )
    /// The number of appends that sessions have requested.
    var appends: Int { state.withLock { $0.appends } }

    /// Makes answers to `history` shorter than requested, as an engine may.
    func limitHistory(to count: Int) { state.withLock { $0.historyEntriesMax = count } }

    func hold() { state.withLock { $0.isHolding = true } }

    /// Lets the held appends through.
    func release() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isHolding = false
            return state.held
        }
        for append in held { append() }
    }

    /// Makes the next append or creation fail without a write, held or not.
    ///
    /// If a deletion is next, it fails after it is done.
    func failNext(_ error: StorageError) { state.withLock { $0.failure = error } }

    /// Makes the next compaction fail without a write.
    func failNextCompaction(_ error: StorageError) { state.withLock { $0.compactionFailure = error } }

    /// The number of loads that sessions and searches have requested.
    var loads: Int { state.withLock { $0.loads } }

    /// Makes the next list of sessions fail.
    func failNextSessions(_ error: StorageError) { state.withLock { $0.sessionsFailure = error } }

    /// Makes each load of a session report damage.
    func damage(_ key: SessionKey) { state.withLock { _ = $0.damaged.insert(key) } }

    /// Makes the next load fail.
    func failNextLoad(_ error: StorageError) { state.withLock { $0.loadFailure = error } }

    /// Makes the outcome of the next append unknown, written or not.
    func doubtNext(isWritten: Bool) {
        state.withLock { state in
            state.isNextInDoubt = isWritten
            state.failure = isWritten ? nil : .indeterminate(detail: "not written")
        }
    }

    /// Holds back the reads of idempotency records.
    func holdReads() { state.withLock { $0.isHoldingReads = true } }

    /// Lets the held reads through in reverse order.
    func releaseReadsBackwards() {
        let held = state.withLock { state in
            defer { state.heldReads = [] }
            state.isHoldingReads = false
            return state.heldReads
        }
        for read in held.reversed() { read() }
    }

    private func takeDoubt() -> Bool {
        state.withLock { state in
            defer { state.isNextInDoubt = false }
            return state.isNextInDoubt
        }
    }

    func load(_ key: SessionKey, reply: @escaping StorageReply<StoredSession?>) {
        let failure = state.withLock { state in
            defer { state.loadFailure = nil }
            state.loads += 1
            return state.damaged.contains(key) ? .corrupt(key, detail: "a test's") : state.loadFailure
        }
        if let failure { return reply(.failure(failure)) }
        engine.load(key, reply: reply)
    }

    func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        owner: String?,
        reply: @escaping StorageReply<CreateOutcome>
    ) {
        if let failure = takeFailure() { return reply(.failure(failure)) }
        engine.create(key, epoch: epoch, time: time, snapshot: snapshot, owner: owner, reply: reply)
    }

    private func takeFailure() -> StorageError? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }

    func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: IdempotencyRecords,
        reply: @escaping StorageReply<AppendOutcome>
    ) {
        let append: @Sendable () -> Void = { [self] in
            if let failure = takeFailure() { return reply(.failure(failure)) }
            let isInDoubt = takeDoubt()
            engine.append(key, at: point, entries, keeping: answers) { result in
                reply(isInDoubt ? .failure(.indeterminate(detail: "written")) : result)
            }
        }
        let isHeld = state.withLock { state in
            state.appends += 1
            if state.isHolding { state.held.append(append) }
            return state.isHolding
        }
        if !isHeld { append() }
    }

    func history(
        _ key: SessionKey,
        epoch: String,
        after version: UInt64,
        limit: Int,
        reply: @escaping StorageReply<[LogEntry]?>
    ) {
        let limit = min(limit, state.withLock { $0.historyEntriesMax })
        engine.history(key, epoch: epoch, after: version, limit: limit, reply: reply)
    }

    func past(_ key: SessionKey, epoch: String, at version: UInt64, reply: @escaping StorageReply<StoredPast?>) {
        engine.past(key, epoch: epoch, at: version, reply: reply)
    }

    func idempotencyRecord(
        _ key: SessionKey,
        epoch: String,
        id: String,
        reply: @escaping StorageReply<IdempotencyRecord?>
    ) {
        let read: @Sendable () -> Void = { [engine] in
            engine.idempotencyRecord(key, epoch: epoch, id: id, reply: reply)
        }
        let isHeld = state.withLock { state in
            if state.isHoldingReads { state.heldReads.append(read) }
            return state.isHoldingReads
        }
        if !isHeld { read() }
    }

    func idempotencyRecords(
        _ key: SessionKey,
        epoch: String,
        since time: Int64,
        reply: @escaping StorageReply<IdempotencyUsage>
    ) {
        engine.idempotencyRecords(key, epoch: epoch, since: time, reply: reply)
    }

    func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keeping: LogKeeping,
        reply: @escaping StorageReply<CompactionOutcome>
    ) {
        let failure = state.withLock { state in
            defer { state.compactionFailure = nil }
            return state.compactionFailure
        }
        if let failure { return reply(.failure(failure)) }
        engine.compact(
            key,
            at: head,
            snapshot: snapshot,
            keeping: keeping,
            reply: reply
        )
    }

    func delete(_ key: SessionKey, reply: @escaping StorageReply<Bool>) {
        engine.delete(key) { [self] result in
            if let failure = takeFailure() { return reply(.failure(failure)) }
            reply(result)
        }
    }

    func sessions(
        app: String,
        owner: String?,
        after id: String?,
        limit: Int,
        reply: @escaping StorageReply<[SessionSummary]>
    ) {
        let failure = state.withLock { state in
            defer { state.sessionsFailure = nil }
            return state.sessionsFailure
        }
        if let failure { return reply(.failure(failure)) }
        engine.sessions(app: app, owner: owner, after: id, limit: limit, reply: reply)
    }
}
