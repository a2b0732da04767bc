// Checks the owner's storage on a log in an array and a replica in memory.

import ClusterModels
import ItemStorageConformance
import RivuletBase
import RivuletCluster
import RivuletSessions
import RivuletStores
import StorageConformance
import Synchronization
import Testing

@Suite struct ReplicatedStorageEngineTests {
    private static let key = SessionKey(app: "counter", id: "one")

    private struct Node {
        let replica = ModelReplica(lastToken: 1_000)
        let writer: ModelWriter
        let engine: ReplicatedStorageEngine<ModelReplica>

        init(
            frameBytesMax: Int = 4 << 10,
            itemLimits: ReplicatedItemLimits = ReplicatedItemLimits(),
            clock: (@Sendable () -> Int64)? = nil
        ) throws {
            writer = ModelWriter(replica: replica, frameBytesMax: frameBytesMax)
            engine = ReplicatedStorageEngine(
                local: replica,
                writer: writer,
                survivesPowerLoss: true,
                itemLimits: itemLimits,
                clock: clock
            )
            try engine.start()
        }
    }

    @Test(arguments: StorageConformance.all)
    func `keeps the storage contract`(rule: StorageConformance) async throws {
        let node = try Node()
        defer { node.engine.close() }
        try await rule.check(node.engine)
    }

    @Test(arguments: QuotaConformance.all)
    func `keeps quotas`(rule: QuotaConformance) async throws {
        let node = try Node()
        defer { node.engine.close() }
        try await rule.check(node.engine)
    }

    @Test(arguments: ItemStorageConformance.checks)
    func `keeps the contract of items`(check: ItemStorageCheck) async throws {
        var limits = ReplicatedItemLimits()
        limits.itemsMax = ItemStorageConformance.itemsMax
        let node = try Node(itemLimits: limits)
        defer { node.engine.close() }
        try await check.run(node.engine)
    }

    @Test func `the cluster's engine has the limits of the local engine and the durability of the log`() throws {
        let node = try Node()
        #expect(
            node.engine.capabilities
                == StorageCapabilities(
                    name: "cluster",
                    isShared: false,
                    entryBytesMax: 1 << 20,
                    snapshotBytesMax: 1 << 20,
                    survivesPowerLoss: true
                )
        )
    }

    @Test func `a head has the token of the local engine, and the log has none`() async throws {
        let node = try Node()
        let point = AppendPoint.creating(epoch: "e", time: 1)
        let outcome = try await node.engine.append(Self.key, at: point, [])
        #expect(outcome == .committed(SessionHead(epoch: "e", version: 0, token: 1_001)))
        let frame = try FrameCodec.decode(try #require(node.writer.log.first))
        #expect(
            frame.operations == [
                .append(
                    Self.key,
                    at: .creating(epoch: "e", time: 1, snapshot: nil, owner: nil),
                    entries: [],
                    answers: .none,
                    quota: .none
                )
            ]
        )
    }

    @Test func `the quota of the app travels in its operations`() async throws {
        let node = try Node()
        let quota = StorageQuota(sessionsMax: 3)
        try node.engine.setQuotas(["counter": quota])
        _ = try await node.engine.create(Self.key, epoch: "e", time: 1)
        _ = try await node.engine.create(SessionKey(app: "other", id: "one"), epoch: "e", time: 1)
        let operations = try node.writer.log.flatMap { try FrameCodec.decode($0).operations }
        let quotas: [StorageQuota] = operations.compactMap { operation in
            if case .create(_, _, _, _, _, let quota) = operation { quota } else { nil }
        }
        #expect(quotas == [quota, .none])
    }

    @Test func `items have the time of the owner's clock and the limit of its configuration`() async throws {
        let time = ItemTime()
        var limits = ReplicatedItemLimits()
        limits.itemsMax = 2
        let node = try Node(itemLimits: limits) { time.now }
        try await node.engine.collection("notes").commit([.put(key: "a", document: [1])])
        time.now = 5
        try await node.engine.collection("notes").commit([.put(key: "a", document: [2])])
        let items = try await node.engine.collection("notes").contents().items
        #expect(items == [StoredItem(key: "a", document: [2], created: 1, updated: 5)])
        await #expect(throws: ItemStorageError.tooMany(limit: 2)) {
            try await node.engine.collection("notes").commit(["b", "c"].map { .put(key: $0, document: []) })
        }
    }

    @Test func `a write beyond a configured limit is not logged`() async throws {
        var limits = ReplicatedItemLimits()
        (limits.documentBytesMax, limits.keyBytesMax) = (4, 3)
        let node = try Node(itemLimits: limits)
        let changes: [(ItemChange, String, Int)] = [
            (.put(key: "a", document: Array(repeating: 0, count: 5)), "notes", 4),
            (.put(key: "long", document: []), "n", 3), (.remove(key: "long"), "n", 3), (.removeAll, "long", 3),
        ]
        for (change, name, limit) in changes {
            await #expect(throws: ItemStorageError.tooLarge(limitBytes: min(limit, name == "n" ? 3 : limit))) {
                try await node.engine.collection(name == "notes" ? "n" : name).commit([change])
            }
        }
        let large = StateSnapshot(version: 0, schema: 1, state: Array(repeating: 0, count: 1 << 20 + 1))
        await #expect(throws: StorageError.tooLarge(limitBytes: 1 << 20)) {
            _ = try await node.engine.create(Self.key, epoch: "e", time: 1, snapshot: large)
        }
        await #expect(throws: StorageError.tooLarge(limitBytes: 1 << 20)) {
            _ = try await node.engine.append(
                Self.key,
                at: .creating(epoch: "e", time: 1, snapshot: large, owner: nil),
                []
            )
        }
        #expect(node.writer.log.isEmpty)
    }

    @Test func `a probe asks the writer and the local engine, and writes nothing to the log`() async throws {
        let node = try Node()
        try await node.engine.probe()
        node.writer.refusal = .unavailable(detail: "no owner")
        await #expect(throws: StorageError.unavailable(detail: "no owner")) { try await node.engine.probe() }
        node.writer.refusal = nil
        node.replica.fail(with: .full(detail: "the disk"))
        await #expect(throws: StorageError.full(detail: "the disk")) { try await node.engine.probe() }
        #expect(node.writer.log.isEmpty)
    }

    @Test(arguments: [
        StorageError.unavailable(detail: "a"), .indeterminate(detail: "b"), .full(detail: "c"), .closed,
    ])
    func `the writer's errors are the answers`(error: StorageError) async throws {
        let node = try Node()
        node.writer.refusal = error
        await #expect(throws: error) { _ = try await node.engine.create(Self.key, epoch: "e", time: 1) }
        await #expect(throws: error) { _ = try await node.engine.delete(Self.key) }
        await #expect(throws: ItemStorageError(error)) { try await node.engine.collection("a").commit([]) }
        // Reads go on.
        #expect(try await node.engine.load(Self.key) == nil)
    }

    @Test func `a write that the replica cannot apply is indeterminate, and later writes are refused`() async throws {
        let node = try Node()
        node.replica.fail(with: .full(detail: "the disk"))
        await #expect(throws: StorageError.indeterminate(detail: "storage is full: the disk")) {
            _ = try await node.engine.create(Self.key, epoch: "e", time: 1)
        }
        await #expect(throws: StorageError.full(detail: "the disk")) { _ = try await node.engine.delete(Self.key) }
    }

    @Test func `closing refuses new writes before it waits for the others`() async throws {
        let replica = ModelReplica()
        let writer = HeldWriter()
        let engine = ReplicatedStorageEngine(local: replica, writer: writer, survivesPowerLoss: false)
        engine.delete(Self.key) { _ in writer.isAnswered.withLock { $0 = true } }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { engine.close() }
            group.addTask {
                // The first refused write shows that the closing has begun.
                while await Self.error(of: engine) != .closed { await Task.yield() }
                #expect(writer.isAnswered.withLock { !$0 })
                writer.answer(.success(.deleted(false)))
            }
        }
        #expect(writer.isAnswered.withLock { $0 })
    }

    private static func error(of engine: ReplicatedStorageEngine<ModelReplica>) async -> StorageError? {
        await withCheckedContinuation { continuation in
            engine.probe { result in
                if case .failure(let error) = result {
                    continuation.resume(returning: error)
                } else {
                    continuation.resume(returning: nil)
                }
            }
        }
    }
}

/// A writer that answers when the test says so.
private final class HeldWriter: ClusterWriter {
    private let replies = Mutex<[StorageReply<OperationOutcome>]>([])
    let refusal: StorageError? = nil
    /// True once the test's write has its answer.
    let isAnswered = Mutex(false)

    func submit(_ operation: Operation, byteCount: Int, reply: @escaping StorageReply<OperationOutcome>) {
        replies.withLock { $0.append(reply) }
    }

    func answer(_ outcome: Result<OperationOutcome, StorageError>) {
        let replies = replies.withLock { replies in
            defer { replies = [] }
            return replies
        }
        for reply in replies { reply(outcome) }
    }
}
