public import RivuletSessions
public import RivuletStores
import Synchronization

/// A storage engine whose next writes fail, as those of a full disk; reads go through.
///
/// Writes are the creation, the appending, the compaction and the deletion of sessions, and the commits of stores.
public final class FaultyStorage: StorageEngine {
    private struct Fault {
        let error: StorageError
        let isWritten: Bool
        var count: Int
    }

    private let engine: any StorageEngine
    private let fault = Mutex<Fault?>(nil)

    /// Wraps an engine, which works until something else is said.
    public init(_ engine: any StorageEngine = MemoryStorageEngine()) {
        self.engine = engine
    }

    /// Lets the next writes fail, in place of what was said before.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - error: What they are answered.
    ///   - isWritten: Whether they are made nonetheless, as an `indeterminate` one may be.
    public func failWrites(_ count: Int = 1, with error: StorageError, isWritten: Bool = false) {
        fault.withLock { $0 = Fault(error: error, isWritten: isWritten, count: count) }
    }

    private func nextFault() -> Fault? {
        fault.withLock { fault in
            guard let next = fault, next.count > 0 else { return nil }
            fault?.count -= 1
            return next
        }
    }

    /// Makes a write, or fails it.
    private func write<Value>(_ reply: @escaping StorageReply<Value>, _ make: (@escaping StorageReply<Value>) -> Void) {
        guard let next = nextFault() else { return make(reply) }
        if next.isWritten {
            make { _ in reply(.failure(next.error)) }
        } else {
            // By way of the engine: replies keep their order, and none comes from within the call.
            engine.probe { _ in reply(.failure(next.error)) }
        }
    }

    // MARK: - Writes

    /// Creates a session, or fails.
    public func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        reply: @escaping StorageReply<CreateOutcome>
    ) {
        write(reply) { engine.create(key, epoch: epoch, time: time, snapshot: snapshot, reply: $0) }
    }

    /// Appends to a session's log, or fails.
    public func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: KeptAnswers,
        reply: @escaping StorageReply<AppendOutcome>
    ) {
        write(reply) { engine.append(key, at: point, entries, keeping: answers, reply: $0) }
    }

    /// Compacts a session's log, or fails.
    public func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keepingFrom: UInt64,
        keepingSince: Int64,
        reply: @escaping StorageReply<CompactionOutcome>
    ) {
        write(reply) {
            engine.compact(
                key,
                at: head,
                snapshot: snapshot,
                keepingFrom: keepingFrom,
                keepingSince: keepingSince,
                reply: $0
            )
        }
    }

    /// Deletes a session, or fails.
    public func delete(_ key: SessionKey, reply: @escaping StorageReply<Bool>) {
        write(reply) { engine.delete(key, reply: $0) }
    }

    // MARK: - What goes through

    /// What the wrapped engine promises.
    public var capabilities: StorageCapabilities { engine.capabilities }

    /// Starts the wrapped engine.
    public func start() throws(StorageError) { try engine.start() }

    /// Reads a session.
    public func load(_ key: SessionKey, reply: @escaping StorageReply<StoredSession?>) {
        engine.load(key, reply: reply)
    }

    /// Reads a part of a session's log.
    public func history(
        _ key: SessionKey,
        epoch: String,
        after version: UInt64,
        limit: Int,
        reply: @escaping StorageReply<[LogEntry]?>
    ) {
        engine.history(key, epoch: epoch, after: version, limit: limit, reply: reply)
    }

    /// Reads what leads to an earlier state.
    public func past(
        _ key: SessionKey,
        epoch: String,
        at version: UInt64,
        reply: @escaping StorageReply<StoredPast?>
    ) {
        engine.past(key, epoch: epoch, at: version, reply: reply)
    }

    /// Reads a kept answer.
    public func keptAnswer(
        _ key: SessionKey,
        epoch: String,
        id: String,
        reply: @escaping StorageReply<KeptAnswer?>
    ) {
        engine.keptAnswer(key, epoch: epoch, id: id, reply: reply)
    }

    /// Reads how many answers are kept.
    public func keptAnswers(
        _ key: SessionKey,
        epoch: String,
        since time: Int64,
        reply: @escaping StorageReply<KeptAnswersUsage>
    ) {
        engine.keptAnswers(key, epoch: epoch, since: time, reply: reply)
    }

    /// Lists sessions.
    public func sessions(
        app: String,
        after id: String?,
        limit: Int,
        reply: @escaping StorageReply<[SessionSummary]>
    ) {
        engine.sessions(app: app, after: id, limit: limit, reply: reply)
    }

    /// Asks whether the wrapped engine works.
    public func probe(reply: @escaping StorageReply<Void>) { engine.probe(reply: reply) }

    /// Closes the wrapped engine.
    public func close() { engine.close() }
}

extension FaultyStorage: ItemStorage {
    /// Makes the changes of a store, or fails.
    ///
    /// An engine that keeps no items answers `.unavailable`.
    public func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        guard let items = engine as? any ItemStorage else { return reply(.failure(Self.noItems)) }
        guard let next = nextFault() else { return items.commit(changes, to: collection, reply: reply) }
        let failure = ItemStorageError(next.error)
        if next.isWritten {
            items.commit(changes, to: collection) { _ in reply(.failure(failure)) }
        } else {
            // By way of the engine, as with the writes of sessions.
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
