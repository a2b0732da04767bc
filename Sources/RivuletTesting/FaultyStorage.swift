public import RivuletBase
public import RivuletSessions
public import RivuletStores
import Synchronization

/// A storage engine that can fail its next writes, like a full disk; reads are passed on.
///
/// Writes are the creation, the appending, the compaction and the deletion of sessions, and the commits of stores.
public final class FaultyStorage: StorageEngine {
    private let engine: any StorageEngine
    private let faults = WriteFaults()

    /// Wraps an engine; its writes succeed until ``failWrites(_:with:isWritten:)`` is called.
    public init(_ engine: any StorageEngine = MemoryStorageEngine()) {
        self.engine = engine
    }

    /// Makes the next writes fail; a later call replaces an earlier one.
    ///
    /// - Parameters:
    ///   - count: The number of writes.
    ///   - error: The error of each write.
    ///   - isWritten: True if the writes are made nonetheless, as an `indeterminate` write may be.
    public func failWrites(_ count: Int = 1, with error: StorageError, isWritten: Bool = false) {
        faults.set(WriteFaults.Fault(error: error, isWritten: isWritten), count)
    }

    /// The capabilities of the wrapped engine.
    public var capabilities: StorageCapabilities { engine.capabilities }

    /// The log of the wrapped engine, with writes that may fail.
    public var log: any LogStorage { FaultyLog(log: engine.log, lifecycle: engine.lifecycle, faults: faults) }

    /// The entries and states of the past, as the wrapped engine has them.
    public var past: any PastStorage { engine.past }

    /// The idempotency records of the wrapped engine.
    public var answers: any AnswerStorage { engine.answers }

    /// The list of sessions of the wrapped engine.
    public var directory: any SessionDirectory { engine.directory }

    /// The start, the end and the health of the wrapped engine.
    public var lifecycle: any StorageLifecycle { engine.lifecycle }
}

/// The writes that are to fail.
private final class WriteFaults: Sendable {
    struct Fault {
        let error: StorageError
        let isWritten: Bool
    }

    private let next = Mutex<(fault: Fault, count: Int)?>(nil)

    func set(_ fault: Fault, _ count: Int) {
        next.withLock { $0 = (fault, count) }
    }

    func take() -> Fault? {
        next.withLock { next in
            guard let (fault, count) = next, count > 0 else { return nil }
            next = (fault, count - 1)
            return fault
        }
    }
}

/// A log that can fail its next writes.
private struct FaultyLog: LogStorage {
    let log: any LogStorage
    let lifecycle: any StorageLifecycle
    let faults: WriteFaults

    /// Makes a write, or fails it.
    private func write<Value>(_ reply: @escaping StorageReply<Value>, _ make: (@escaping StorageReply<Value>) -> Void) {
        guard let next = faults.take() else { return make(reply) }
        if next.isWritten {
            make { _ in reply(.failure(next.error)) }
        } else {
            // The engine makes the reply, so that replies keep their order and none comes before this call returns.
            lifecycle.probe { _ in reply(.failure(next.error)) }
        }
    }

    func load(_ key: SessionKey, reply: @escaping StorageReply<StoredSession?>) {
        log.load(key, reply: reply)
    }

    func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        owner: String?,
        reply: @escaping StorageReply<CreateOutcome>
    ) {
        write(reply) { log.create(key, epoch: epoch, time: time, snapshot: snapshot, owner: owner, reply: $0) }
    }

    func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: IdempotencyRecords,
        reply: @escaping StorageReply<AppendOutcome>
    ) {
        write(reply) { log.append(key, at: point, entries, keeping: answers, reply: $0) }
    }

    func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keeping: LogKeeping,
        reply: @escaping StorageReply<CompactionOutcome>
    ) {
        write(reply) {
            log.compact(
                key,
                at: head,
                snapshot: snapshot,
                keeping: keeping,
                reply: $0
            )
        }
    }

    func delete(_ key: SessionKey, reply: @escaping StorageReply<Bool>) {
        write(reply) { log.delete(key, reply: $0) }
    }
}

extension FaultyStorage: QuotaStorageEngine {
    /// Sets the quotas of the wrapped engine.
    ///
    /// - Throws: `.incompatible` if there are quotas, and the wrapped engine keeps none.
    public func setQuotas(_ quotas: [String: StorageQuota]) throws(StorageError) {
        guard let engine = engine as? any QuotaStorageEngine else {
            if quotas.isEmpty { return }
            throw .incompatible(detail: "the wrapped engine keeps no quotas")
        }
        try engine.setQuotas(quotas)
    }
}

extension FaultyStorage: ItemStorage {
    /// Commits the changes of a store, or fails.
    ///
    /// An engine that stores no items answers `.unavailable`.
    public func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        guard let items = engine as? any ItemStorage else { return reply(.failure(Self.noItems)) }
        guard let next = faults.take() else { return items.commit(changes, to: collection, reply: reply) }
        let failure = ItemStorageError(next.error)
        if next.isWritten {
            items.commit(changes, to: collection) { _ in reply(.failure(failure)) }
        } else {
            // The engine makes the reply, as for the writes of sessions.
            items.items(of: collection) { _ in reply(.failure(failure)) }
        }
    }

    /// Reads the items of a store.
    public func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        guard let items = engine as? any ItemStorage else { return reply(.failure(Self.noItems)) }
        items.items(of: collection, reply: reply)
    }

    private static let noItems = ItemStorageError.unavailable(detail: "the wrapped engine keeps no items of stores")
}
