import RivuletBase
package import RivuletCluster
package import RivuletSessions
package import RivuletStores
import Synchronization

/// A replica in memory, with the reads of a storage engine; it answers at once, on the caller's thread.
///
/// It is open from the beginning. As a storage engine it refuses writes, because a replica changes by frames alone.
package final class ModelReplica: Replica, StorageRoles, ItemStorage {
    package let capabilities: StorageCapabilities
    private let state: Mutex<State>

    private struct State {
        var content: ModelContent
        var position = ReplicaPosition.start
        /// The error that ended all applying.
        var failure: StorageError?
        var isClosed = false
    }

    /// Creates an empty replica; its tokens come after `lastToken`, so that tests find one that leaves its replica.
    package init(lastToken: UInt64 = 0, entryBytesMax: Int = 1 << 20, snapshotBytesMax: Int = 1 << 20) {
        state = Mutex(State(content: ModelContent(lastToken: lastToken)))
        capabilities = StorageCapabilities(
            name: "model",
            isShared: false,
            entryBytesMax: entryBytesMax,
            snapshotBytesMax: snapshotBytesMax,
            survivesPowerLoss: false
        )
    }

    /// The present content.
    package var content: ModelContent { state.withLock { $0.content } }
    /// The present position.
    package var position: ReplicaPosition { state.withLock { $0.position } }

    /// Takes the copy back to an earlier state, as a power cut does.
    package func goBack(to content: ModelContent, at position: ReplicaPosition) {
        state.withLock { ($0.content, $0.position, $0.failure) = (content, position, nil) }
    }

    /// Makes every later apply fail with this error.
    package func fail(with error: StorageError) { state.withLock { $0.failure = error } }

    // MARK: - Replica

    package func position(of partition: Partition, reply: @escaping StorageReply<ReplicaPosition>) {
        reply(answer { $0.position })
    }

    package func apply(
        _ frames: [PositionedFrame],
        of partition: Partition,
        reply: @escaping StorageReply<[OperationOutcome]>
    ) {
        reply(
            answer { state throws(StorageError) in
                if let failure = state.failure { throw failure }
                do throws(StorageError) {
                    return try Self.apply(frames, to: &state)
                } catch {
                    state.failure = error
                    throw error
                }
            }
        )
    }

    package func export(
        _ partition: Partition,
        frameBytesMax: Int,
        reply: @escaping StorageReply<ReplicaExport>
    ) {
        reply(
            answer { state in
                var groups: [[BaseOperation]] = []
                var room = 0
                for operation in state.content.baseOperations {
                    let byteCount = Operation.base(operation).byteCount
                    if byteCount > room || groups.isEmpty { (groups, room) = (groups + [[]], frameBytesMax / 2) }
                    groups[groups.count - 1].append(operation)
                    room -= byteCount
                }
                return ReplicaExport(position: state.position, operations: groups)
            }
        )
    }

    package func load(_ export: ReplicaExport, of partition: Partition, reply: @escaping StorageReply<Void>) {
        reply(
            answer { state throws(StorageError) in
                var content = ModelContent(lastToken: state.content.sessions.values.map(\.token).max() ?? 0)
                for operation in export.operations.joined() where !content.load(operation) {
                    throw .corrupt(nil, detail: "the base has a part without its session, or a session twice")
                }
                (state.content, state.position, state.failure) = (content, export.position, nil)
            }
        )
    }

    package func contentHash(of partition: Partition, reply: @escaping StorageReply<ContentHash>) {
        reply(
            answer { state in
                let operations = state.content.baseOperations.map(Operation.base)
                let frame = Frame(
                    cluster: "",
                    partition: partition,
                    previous: .start,
                    term: 0,
                    nonce: 0,
                    operations: operations
                )
                let hash = FrameCodec.hash(of: FrameCodec.encode(frame)).high
                return ContentHash(position: state.position.position, hash: hash)
            }
        )
    }

    private static func apply(
        _ frames: [PositionedFrame],
        to state: inout State
    ) throws(StorageError) -> [OperationOutcome] {
        var (content, position) = (state.content, state.position)
        var hash = OutcomeHash(position.outcomes)
        var outcomes: [OperationOutcome] = []
        for positioned in frames {
            let frame = positioned.frame
            guard frame.part == nil else { throw .corrupt(nil, detail: "the frame \(frame.number) is a part") }
            for operation in frame.operations {
                switch operation {
                case .checkpoint(let expected) where expected != hash.value:
                    throw .corrupt(nil, detail: "this copy has diverged before the frame \(frame.number)")
                case .base: throw .corrupt(nil, detail: "the frame \(frame.number) has a part of a base")
                default: break
                }
                let outcome = content.apply(operation)
                hash.add(outcome)
                outcomes.append(outcome)
                position.ownership.apply(operation)
            }
            position.cluster = frame.cluster
            position.position = positioned.position
            position.link = FrameLink(number: frame.number, term: frame.term, hash: positioned.hash)
            position.outcomes = hash.value
        }
        (state.content, state.position) = (content, position)
        return outcomes
    }

    /// Answers a request, unless the replica is closed.
    private func answer<Value>(
        _ body: (inout sending State) throws(StorageError) -> Value
    ) -> Result<Value, StorageError> {
        state.withLock { state in
            if state.isClosed { return .failure(.closed) }
            do throws(StorageError) {
                return .success(try body(&state))
            } catch {
                return .failure(error)
            }
        }
    }
}

// MARK: - Reads

extension ModelReplica {
    package func load(_ key: SessionKey, reply: @escaping StorageReply<StoredSession?>) {
        reply(answer { $0.content.sessions[key]?.stored })
    }

    package func history(
        _ key: SessionKey,
        epoch: String,
        after version: UInt64,
        limit: Int,
        reply: @escaping StorageReply<[LogEntry]?>
    ) {
        let session = session(key, epoch: epoch)
        reply(
            session.map { session in
                session?.entries(after: version, upTo: session?.version ?? 0).map { Array($0.prefix(max(1, limit))) }
            }
        )
    }

    package func past(
        _ key: SessionKey,
        epoch: String,
        at version: UInt64,
        reply: @escaping StorageReply<StoredPast?>
    ) {
        reply(session(key, epoch: epoch).map { $0?.past(at: version) })
    }

    package func idempotencyRecord(
        _ key: SessionKey,
        epoch: String,
        id: String,
        reply: @escaping StorageReply<IdempotencyRecord?>
    ) {
        reply(session(key, epoch: epoch).map { $0?.answer(id) })
    }

    package func idempotencyRecords(
        _ key: SessionKey,
        epoch: String,
        since time: Int64,
        reply: @escaping StorageReply<IdempotencyUsage>
    ) {
        let none = IdempotencyUsage(count: 0, byteCount: 0, oldest: nil)
        reply(session(key, epoch: epoch).map { $0?.usage(since: time) ?? none })
    }

    package func sessions(
        app: String,
        owner: String?,
        after id: String?,
        limit: Int,
        reply: @escaping StorageReply<[SessionSummary]>
    ) {
        reply(
            answer { $0.content }.map { content in
                content.keys
                    .filter { $0.app == app && (id ?? "").utf8.lexicographicallyPrecedes($0.id.utf8) }
                    .compactMap { key in content.sessions[key].map { (key, $0) } }
                    .filter { owner == nil || $0.1.owner == owner }
                    .prefix(max(0, limit))
                    .map { $0.1.summary(id: $0.0.id) }
            }
        )
    }

    package func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        let items = answer { state in
            state.content.collections[ByteText(collection)] ?? []
        }
        reply(items.map { StoredCollection(items: $0) }.mapError(ItemStorageError.init))
    }

    private func session(_ key: SessionKey, epoch: String) -> Result<ModelSession?, StorageError> {
        answer { state in state.content.sessions[key].flatMap { $0.epoch == epoch ? $0 : nil } }
    }
}

// MARK: - Life and writes

extension ModelReplica {
    package func start() throws(StorageError) {
        if state.withLock({ $0.isClosed }) { throw .closed }
    }

    package func probe(reply: @escaping StorageReply<Void>) {
        reply(
            answer { state throws(StorageError) in
                if let failure = state.failure { throw failure }
            }
        )
    }

    package func close() { state.withLock { $0.isClosed = true } }

    private static var noWrites: StorageError { .incompatible(detail: "a replica changes by frames alone") }

    package func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        owner: String?,
        reply: @escaping StorageReply<CreateOutcome>
    ) { reply(.failure(Self.noWrites)) }

    package func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: IdempotencyRecords,
        reply: @escaping StorageReply<AppendOutcome>
    ) { reply(.failure(Self.noWrites)) }

    package func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keeping: LogKeeping,
        reply: @escaping StorageReply<CompactionOutcome>
    ) { reply(.failure(Self.noWrites)) }

    package func delete(_ key: SessionKey, reply: @escaping StorageReply<Bool>) { reply(.failure(Self.noWrites)) }

    package func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        reply(.failure(ItemStorageError(Self.noWrites)))
    }
}
