internal import Dispatch
package import RivuletBase
package import RivuletSessions
package import RivuletStores
internal import Synchronization

/// The storage of the cluster's owner: writes go through the cluster's log, and reads to this node's own copy.
///
/// A write is answered when a quorum has it on disk and the local engine has applied it. So reads see every answered
/// write, and an outcome is the local engine's own: its heads have the local engine's tokens. A head in the log is an
/// epoch and a version only, and so each node compares it with its own copy.
///
/// Limits that come from this node's configuration are checked before the log, because a node with other limits must
/// apply the same operation to the same end. Quotas are applied with the operation, and travel in it.
package final class ReplicatedStorageEngine<Local: StorageEngine & ItemStorage & Replica>: StorageEngine,
    QuotaStorageEngine
{
    package let capabilities: StorageCapabilities
    /// The engine that reads, and to which the cluster's node applies the log.
    package let local: Local

    private let writer: any ClusterWriter
    private let itemLimits: ReplicatedItemLimits
    private let clock: @Sendable () -> Int64
    /// The writes without an answer, for which `close()` waits.
    private let underWay = DispatchGroup()
    private let state = Mutex(State())

    private struct State {
        var isClosed = false
        var quotas: [String: StorageQuota] = [:]
        var tokens = IssuedTokens()
    }

    /// Makes the storage of a node.
    ///
    /// `survivesPowerLoss` is that of the log. `clock` gives the times of items, in milliseconds since
    /// 1970-01-01T00:00:00Z.
    package init(
        local: Local,
        writer: any ClusterWriter,
        survivesPowerLoss: Bool,
        itemLimits: ReplicatedItemLimits = ReplicatedItemLimits(),
        clock: (@Sendable () -> Int64)? = nil
    ) {
        (self.local, self.writer, self.itemLimits) = (local, writer, itemLimits)
        self.clock = clock ?? WallClock.milliseconds
        capabilities = StorageCapabilities(
            name: "cluster",
            isShared: false,
            entryBytesMax: local.capabilities.entryBytesMax,
            snapshotBytesMax: local.capabilities.snapshotBytesMax,
            survivesPowerLoss: survivesPowerLoss
        )
    }

    package var past: any PastStorage { local.past }
    package var answers: any AnswerStorage { local.answers }
    package var directory: any SessionDirectory { local.directory }

    /// Sets the quotas, which this node's operations carry while it is the owner.
    package func setQuotas(_ quotas: [String: StorageQuota]) throws(StorageError) {
        state.withLock { $0.quotas = quotas }
    }

    // MARK: - Writing

    /// Writes the operation that `make` makes with the app's quota.
    private func write<Value>(
        _ key: SessionKey,
        _ reply: @escaping StorageReply<Value>,
        value: @escaping @Sendable (OperationOutcome) -> Value?,
        _ make: (StorageQuota) -> Operation
    ) {
        let quota = state.withLock { $0.quotas.isEmpty ? .none : $0.quotas[key.app] ?? .none }
        submit(make(quota)) { result in
            reply(
                result.flatMap { outcome in
                    if case .refused(let excess) = outcome { return .failure(.quota(excess)) }
                    guard let value = value(outcome) else { return .failure(Self.mismatch(outcome)) }
                    return .success(value)
                }
            )
        }
    }

    private func submit(_ operation: Operation, _ reply: @escaping StorageReply<OperationOutcome>) {
        let byteCount = operation.byteCount
        guard byteCount <= Operation.bytesMax else {
            return reply(.failure(.tooLarge(limitBytes: Operation.bytesMax)))
        }
        let isAccepted = state.withLock { state in
            // The write is counted under the lock, so that `close()` waits for each write that was accepted before it.
            if !state.isClosed { underWay.enter() }
            return !state.isClosed
        }
        guard isAccepted else { return reply(.failure(.closed)) }
        writer.submit(operation, byteCount: byteCount) { [underWay] result in
            reply(result)
            underWay.leave()
        }
    }

    private static func mismatch(_ outcome: OperationOutcome) -> StorageError {
        .indeterminate(detail: "the operation's outcome is of another operation (\(outcome)): report this fault")
    }

    private func refusal(
        entries: [LogEntry] = [],
        answers: [IdempotencyRecord] = [],
        snapshot: StateSnapshot?
    ) -> StorageError? {
        if let snapshot, snapshot.state.count > capabilities.snapshotBytesMax {
            return .tooLarge(limitBytes: capabilities.snapshotBytesMax)
        }
        let limit = capabilities.entryBytesMax
        guard entries.allSatisfy({ $0.byteCount <= limit }), answers.allSatisfy({ $0.byteCount <= limit }) else {
            return .tooLarge(limitBytes: limit)
        }
        return nil
    }
}

extension ReplicatedStorageEngine: LogStorage {
    package func load(_ key: SessionKey, reply: @escaping StorageReply<StoredSession?>) {
        local.log.load(key) { [self] result in
            if case .success(let session?) = result { remember(session.head, of: key) }
            reply(result)
        }
    }

    package func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        owner: String?,
        reply: @escaping StorageReply<CreateOutcome>
    ) {
        if let refusal = refusal(snapshot: snapshot) { return reply(.failure(refusal)) }
        write(key, reply) { [self] outcome in
            guard case .created(let outcome) = outcome else { return nil }
            switch outcome {
            case .created(let head), .exists(let head): remember(head, of: key)
            }
            return outcome
        } _: { quota in
            .create(key, epoch: epoch, time: time, snapshot: snapshot, owner: owner, quota: quota)
        }
    }

    package func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: IdempotencyRecords,
        reply: @escaping StorageReply<AppendOutcome>
    ) {
        let (operationPoint, snapshot) = operationPoint(of: point)
        if let refusal = refusal(entries: entries, answers: answers.answers, snapshot: snapshot) {
            return reply(.failure(refusal))
        }
        if case .after(let head) = point, isForeign(head, of: key) { return reply(.success(.conflict)) }
        write(key, reply) { [self] outcome in
            guard case .appended(let outcome) = outcome else { return nil }
            if case .committed(let head) = outcome, case .creating = point { remember(head, of: key) }
            return outcome
        } _: { quota in
            .append(key, at: operationPoint, entries: entries, answers: answers, quota: quota)
        }
    }

    package func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keeping: LogKeeping,
        reply: @escaping StorageReply<CompactionOutcome>
    ) {
        if let refusal = refusal(snapshot: snapshot) { return reply(.failure(refusal)) }
        if isForeign(head, of: key) { return reply(.success(.conflict)) }
        write(key, reply) { outcome in
            if case .compacted(let outcome) = outcome { outcome } else { nil }
        } _: { _ in
            .compact(key, epoch: head.epoch, version: head.version, snapshot: snapshot, keeping: keeping)
        }
    }

    package func delete(_ key: SessionKey, reply: @escaping StorageReply<Bool>) {
        write(key, reply) { outcome in
            if case .deleted(let wasThere) = outcome { wasThere } else { nil }
        } _: { _ in
            .delete(key)
        }
    }

    private func operationPoint(of point: AppendPoint) -> (OperationPoint, StateSnapshot?) {
        switch point {
        case .after(let head): (.after(epoch: head.epoch, version: head.version), nil)
        case .creating(let epoch, let time, let snapshot, let owner):
            (.creating(epoch: epoch, time: time, snapshot: snapshot, owner: owner), snapshot)
        }
    }

    private func remember(_ head: SessionHead, of key: SessionKey) {
        state.withLock { $0.tokens.add(head, of: key) }
    }

    private func isForeign(_ head: SessionHead, of key: SessionKey) -> Bool {
        state.withLock { $0.tokens.isForeign(head, of: key) }
    }
}

extension ReplicatedStorageEngine: ItemStorage {
    package func open() throws(ItemStorageError) { try local.open() }

    package func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        local.items(of: collection, reply: reply)
    }

    package func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        if let refusal = itemLimits.refusal(of: changes, to: collection) { return reply(.failure(refusal)) }
        let itemsMax = itemLimits.itemsMax
        submit(.items(collection: collection, changes: changes, time: clock(), itemsMax: itemsMax)) { result in
            reply(
                result.mapError(ItemStorageError.init).flatMap { outcome in
                    guard case .items(let error) = outcome else {
                        return .failure(ItemStorageError(Self.mismatch(outcome)))
                    }
                    return error.map { .failure($0) } ?? .success(())
                }
            )
        }
    }
}

extension ReplicatedStorageEngine: StorageLifecycle {
    /// Opens the local engine only; the cluster's node brings it up to date.
    package func start() throws(StorageError) { try local.lifecycle.start() }

    /// Tests that the writer takes operations and that the local engine can commit; writes nothing to the log.
    package func probe(reply: @escaping StorageReply<Void>) {
        if state.withLock({ $0.isClosed }) { return reply(.failure(.closed)) }
        if let refusal = writer.refusal { return reply(.failure(refusal)) }
        local.lifecycle.probe(reply: reply)
    }

    /// Refuses further writes, waits until the writer has answered the others, and closes the local engine.
    ///
    /// It is not called on a thread that the writer needs for its answers.
    package func close() {
        state.withLock { $0.isClosed = true }
        underWay.wait()
        local.lifecycle.close()
    }
}

extension ReplicatedStorageEngine: LocatedStorage where Local: LocatedStorage {
    package var location: String { local.location }
}

extension ReplicatedStorageEngine: RecoveringStorageEngine where Local: RecoveringStorageEngine {
    package var recovery: StorageRecovery { local.recovery }
}

extension ReplicatedStorageEngine: ErasingStorageEngine where Local: ErasingStorageEngine {
    package var sessionsToEraseCount: Int { local.sessionsToEraseCount }
    package var startNotices: [String] { local.startNotices }

    package func onErasingTrouble(_ report: @escaping @Sendable (String) -> Void) { local.onErasingTrouble(report) }
}
