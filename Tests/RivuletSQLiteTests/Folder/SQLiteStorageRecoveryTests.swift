// Checks the stored data after an unclean end.

import Foundation
import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct SQLiteStorageRecoveryTests {
    /// The files that a crash leaves: copies from the running engine, with the log cut to `walBytes`.
    private func crashed(_ folder: TemporaryFolder, walBytes: Int? = nil) throws -> TemporaryFolder {
        let copy = try TemporaryFolder()
        for name in ["rivulet.db", "rivulet.db-wal", "rivulet.lock"] {
            var data = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name))
            if name.hasSuffix("-wal"), let walBytes { data = data.prefix(walBytes) }
            try data.write(to: URL(fileURLWithPath: copy.path + "/" + name))
        }
        return copy
    }

    @Test func `all acknowledged data exists after a crash`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.unindexedEntriesMax = 40 }
        defer { engine.close() }
        var before: [StoredSession?] = []
        for index in 0..<30 {
            let head = try await engine.fill("\(index)", upTo: UInt64(index), byteCount: 500)
            if index % 3 == 0 {
                let snapshot = TestData.snapshot(head.version, byteCount: 5_000)
                _ = try await engine.compact(TestData.key("\(index)"), at: head, snapshot: snapshot, keepingFrom: 5)
            }
            if index % 7 == 0 { _ = try await engine.delete(TestData.key("\(index)")) }
            before.append(try await engine.load(TestData.key("\(index)")))
        }
        let next = try crashed(folder).engine()
        defer { next.close() }
        for index in 0..<30 {
            #expect(try await next.load(TestData.key("\(index)")) == before[index])
        }
    }

    @Test(arguments: [3, 4_096])
    func `a torn end of the log loses whole last commits, never a part of a commit`(
        unindexedEntriesMax: Int
    ) async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.unindexedEntriesMax = unindexedEntriesMax }
        defer { engine.close() }
        var head = try await engine.fill(upTo: 2)
        for _ in 0..<10 {
            let entries = TestData.entries(head.version + 1...head.version + 2)
            head = try await engine.append(TestData.key(), at: .after(head), entries).head()
        }
        let whole = try #require(folder.byteCount(of: "rivulet.db-wal"))
        var found: Set<UInt64> = []
        for bytes in stride(from: whole, to: 0, by: -3_001) {
            let copy = try crashed(folder, walBytes: bytes)
            let next = try copy.engine()
            defer { next.close() }
            guard let stored = try await next.load(TestData.key()) else { continue }
            #expect(stored.head.version % 2 == 0)
            #expect(stored.tail == TestData.entries(1...stored.head.version))
            found.insert(stored.head.version)
        }
        #expect(found.max() == 22)
        #expect(found.count > 5)
    }

    @Test func `an engine starts after a crash that came before its tables were made`() throws {
        let folder = try TemporaryFolder()
        // The file has its settings, but no tables yet.
        let raw = try RawDatabase(folder.databasePath)
        try raw.execute("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
        try folder.engine().close()
    }
}
