// Checks that the files stay as small as possible.

import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct SQLiteStorageMaintenanceTests {
    private static let walFrameBytes = 4_096 + 24

    @Test func `the write-ahead log starts again after each checkpoint`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.walPagesPerCheckpoint = 50 }
        defer { engine.close() }
        var head = try await engine.fill(upTo: 0)
        for version: UInt64 in 1...150 {
            let entry = TestData.entry(version, byteCount: 2_000)
            head = try await engine.append(TestData.key(), at: .after(head), [entry]).head()
        }
        let bytes = try #require(folder.byteCount(of: "rivulet.db-wal"))
        #expect(bytes < 80 * Self.walFrameBytes)
        #expect(try #require(folder.byteCount(of: "rivulet.db")) > 150 * 2_000)
    }

    @Test func `the space of dropped entries is used again`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.walPagesPerCheckpoint = 1 }
        defer { engine.close() }
        var head = try await engine.fill(upTo: 0)
        for version: UInt64 in 1...200 {
            let entry = TestData.entry(version, byteCount: 3_000)
            head = try await engine.append(TestData.key(), at: .after(head), [entry]).head()
            guard version % 20 == 0 else { continue }
            let snapshot = TestData.snapshot(version)
            _ = try await engine.compact(TestData.key(), at: head, snapshot: snapshot, keepingFrom: version + 1)
        }
        #expect(try #require(folder.byteCount(of: "rivulet.db")) < 300_000)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a quiet engine returns the space of deleted sessions to the disk`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { limits in
            limits.walPagesPerCheckpoint = 1
            limits.idleMilliseconds = 1
        }
        defer { engine.close() }
        _ = try await engine.fill("large", upTo: 200, byteCount: 40_000)
        // The answer comes before the checkpoint, the next write after it.
        try await engine.probe()
        let before = try #require(folder.byteCount(of: "rivulet.db"))
        #expect(try await engine.delete(TestData.key("large")))
        while let bytes = folder.byteCount(of: "rivulet.db"), bytes > before * 2 / 3 {
            try Task.checkCancellation()
            await Task.yield()
        }
        _ = try await engine.fill(upTo: 1)
    }
}
