// Checks that the SQLite engine satisfies the storage contract, and behaves like the reference engine.

import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct SQLiteStorageEngineTests {
    @Test(arguments: StorageConformance.all)
    func `keeps the storage contract`(rule: StorageConformance) async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { limits in
            limits.entryBytesMax = 1 << 20
            limits.snapshotBytesMax = 1 << 20
            limits.historyBytesMax = 2 << 20
        }
        defer { engine.close() }
        try await rule.check(engine)
    }

    @Test(arguments: StorageConformance.all)
    func `keeps the storage contract without caches and with single commits`(
        rule: StorageConformance
    ) async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { limits in
            limits.entryBytesMax = 1 << 17
            limits.snapshotBytesMax = 1 << 17
            limits.headsRememberedMax = 1
            limits.batchWritesMax = 1
            limits.unindexedEntriesMax = 1
            limits.walPagesPerCheckpoint = 1
            limits.walPagesMax = 2
        }
        defer { engine.close() }
        try await rule.check(engine)
    }

    @Test func `it declares that it survives a power cut`() {
        let capabilities = SQLiteStorageEngine(folder: "unused").capabilities
        #expect(capabilities.name == "sqlite")
        #expect(capabilities.survivesPowerLoss)
        #expect(!capabilities.isShared)
    }

    @Test func `is unavailable before it is started`() async throws {
        let engine = SQLiteStorageEngine(folder: "unused")
        let expected = StorageError.unavailable(detail: "start() has not been called")
        await #expect(throws: expected) { _ = try await engine.load(TestData.key()) }
        await #expect(throws: expected) { try await engine.probe() }
    }

    @Test(arguments: 1...12)
    func `answers any program of requests as the reference engine does`(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        func started() throws -> SQLiteStorageEngine {
            try folder.engine { limits in
                limits.headsRememberedMax = 3
                limits.unindexedEntriesMax = [1, 3, 20, 4_096][Int(seed % 4)]
            }
        }
        var engine = try started()
        defer { engine.close() }
        let inspection = try SQLiteStorageInspection(folder: folder.path)
        let reference = MemoryStorageEngine()
        try reference.start()
        var program = RandomProgram(seed: seed)
        for index in 1...250 {
            let (step, expected, found) = try await program.step(reference, engine)
            try #require(found == expected, "seed \(seed): \(step)")
            if index % 10 == 0 {
                let key = TestData.key("\(index / 10 % 4)")
                #expect(try await engine.load(key) == inspection.load(key), "seed \(seed): \(step)")
            }
            if index % 40 == 0 {
                engine.close()
                engine = try started()
            }
        }
    }
}
