// Checks the storage of a cluster's owner over a copy on disk, and the copy against the model of a copy.

import ClusterModels
import ItemStorageConformance
import RivuletCluster
import RivuletSQLite
import RivuletSessions
import RivuletStores
import StorageConformance
import Synchronization
import Testing

@Suite struct ReplicatedStorageTests {
    private typealias Storage = ReplicatedStorageEngine<SQLiteStorageEngine>

    private func storage(in folder: TemporaryFolder, itemsMax: Int = 1_000, time: ItemTime = ItemTime()) -> Storage {
        var limits = SQLiteStorageLimits()
        limits.entryBytesMax = 1 << 20
        limits.snapshotBytesMax = 1 << 20
        limits.historyBytesMax = 2 << 20
        let replica = SQLiteStorageEngine(replicaIn: folder.path, limits: limits)
        var itemLimits = ReplicatedItemLimits()
        itemLimits.itemsMax = itemsMax
        return Storage(
            local: replica,
            writer: ModelWriter(replica: replica),
            survivesPowerLoss: true,
            itemLimits: itemLimits,
            clock: { time.now }
        )
    }

    @Test(arguments: StorageConformance.all)
    func `keeps the storage contract`(rule: StorageConformance) async throws {
        let folder = try TemporaryFolder()
        let storage = storage(in: folder)
        try storage.start()
        defer { storage.close() }
        try await rule.check(storage)
    }

    @Test(arguments: QuotaConformance.all)
    func `keeps quotas`(rule: QuotaConformance) async throws {
        let folder = try TemporaryFolder()
        let storage = storage(in: folder)
        defer { storage.close() }
        try await rule.check(storage)
        #expect(try SQLiteCheck.run(folder: folder.path) == [])
    }

    @Test(arguments: ItemStorageConformance.checks)
    func `keeps the contract of items`(check: ItemStorageCheck) async throws {
        let folder = try TemporaryFolder()
        let storage = storage(in: folder, itemsMax: ItemStorageConformance.itemsMax)
        try storage.start()
        defer { storage.close() }
        try await check.run(storage)
    }

    @Test(arguments: UInt64(1)...6)
    func `a copy on disk has the outcomes and the content of the model`(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica()
        defer { replica.close() }
        let model = ModelReplica()
        var random = ClusterModels.RandomOperations(seed: seed)
        var chain = FrameChain()
        var frames: [PositionedFrame] = []
        for _ in 0..<80 {
            let operations = (0..<random.number(5)).map { _ in random.next(in: model.content) }
            frames.append(chain.next(operations.filter { !$0.isCheckpoint }))
            let expected = try model.applied(frames.suffix(1)).map(\.withoutToken)
            #expect(try await replica.apply(frames.suffix(1)).map(\.withoutToken) == expected)
        }
        #expect(try await replica.position() == model.position)
        let content = try await replica.export(frameBytesMax: 1_500)
        #expect(Self.rows(of: content) == Self.rows(of: try model.exported(frameBytesMax: 9_000)))
        // The model gets the content through the bytes of a base.
        let base = PartitionBase(content, of: .first, frameBytesMax: 1_500)
        #expect(base.frames.allSatisfy { $0.count <= 1_500 })
        let copy = ModelReplica()
        try copy.loaded(ReplicaExport(base, of: .first))
        #expect(Self.rows(of: try copy.exported(frameBytesMax: 9_000)) == Self.rows(of: content))
    }

    /// The operations of a copy with one entry or one item each, without idempotency records.
    ///
    /// The model drops old records at other times.
    private static func rows(of export: ReplicaExport) -> [BaseOperation] {
        export.operations.joined().flatMap { operation -> [BaseOperation] in
            switch operation {
            case .entries(let key, let entries): entries.map { .entries(key, [$0]) }
            case .items(let collection, let items): items.map { .items(collection: collection, [$0]) }
            case .answer: []
            case .session, .snapshot: [operation]
            }
        }
    }
}
