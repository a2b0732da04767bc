// Checks that pages have SQLite's checksums, and that a page with a wrong checksum is not served.

import Foundation
import RivuletSQLite
import RivuletSessions
import RivuletStores
import StorageConformance
import Testing

@Suite struct SQLitePageChecksumTests {
    /// A closed database with some pages of each kind, including overflow pages.
    private func filled(_ folder: TemporaryFolder, sessions: Int = 20, byteCount: Int = 300) async throws {
        let engine = try folder.engine { $0.unindexedEntriesMax = 40 }
        for index in 0..<sessions { _ = try await engine.fill("s\(index)", upTo: 5, byteCount: byteCount) }
        try await engine.collection("notes").commit([.put(key: "a", document: Array(repeating: 1, count: 9_000))])
        engine.close()
    }

    @Test func `each page of a new database has the checksum of SQLite's own tool`() async throws {
        let folder = try TemporaryFolder()
        try await filled(folder)
        let pages = try DatabasePages(folder.databasePath)
        #expect(pages.reservedBytes == 8)
        #expect(pages.count > 20)
        #expect(pages.wrongPages == [])
        #expect(try RawDatabase(folder.databasePath).text("PRAGMA integrity_check") == "ok")
    }

    @Test func `pages have their checksums after checkpoints beside a second connection`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.walPagesPerCheckpoint = 3 }
        for index in 0..<40 {
            _ = try await engine.fill("s\(index)", upTo: 3, byteCount: 2_000)
            #expect(try await engine.load(TestData.key("s\(index / 2)"))?.head.version == 3)
        }
        #expect(try DatabasePages(folder.databasePath).wrongPages == [])
        engine.close()
        #expect(try DatabasePages(folder.databasePath).wrongPages == [])
    }

    @Test func `a backup that is larger than its cache has checksums, and so has its restored database`() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        try await filled(folder, sessions: 60, byteCount: 20_000)
        _ = try SQLiteBackup.create(of: folder.path, in: other.path + "/backup")
        let backup = try DatabasePages(other.path + "/backup/rivulet.db")
        #expect(backup.count > 1_400 && backup.reservedBytes == 8)
        #expect(backup.wrongPages == [])
        _ = try SQLiteBackup.restore(other.path + "/backup", to: other.path + "/again")
        #expect(try DatabasePages(other.path + "/again/rivulet.db").wrongPages == [])
    }

    @Test func `a database without checksums is served as before, and a vacuum adds checksums`() async throws {
        let folder = try TemporaryFolder()
        // The file has the form of older versions.
        let raw = try RawDatabase(folder.databasePath, stampsPages: false)
        try raw.execute("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
        try await filled(folder, sessions: 60, byteCount: 20_000)
        #expect(try DatabasePages(folder.databasePath).reservedBytes == 0)
        let before = try folder.engine()
        #expect(try await before.load(TestData.key("s7"))?.head.version == 5)
        before.close()
        _ = try SQLiteVacuum.run(folder: folder.path)
        let pages = try DatabasePages(folder.databasePath)
        #expect(pages.reservedBytes == 8)
        #expect(pages.wrongPages == [])
        let engine = try folder.engine()
        defer { engine.close() }
        for index in 0..<60 { #expect(try await engine.load(TestData.key("s\(index)"))?.head.version == 5) }
        #expect(try await engine.collection("notes").contents().items.count == 1)
    }

    @Test func `each flipped bit of a page is reported, also in the byte that declares checksums`()
        async throws
    {
        let folder = try TemporaryFolder()
        try await filled(folder, sessions: 3)
        let raw = try RawDatabase(folder.databasePath)
        let root = try #require(try raw.rootPage(of: "session"))
        for (page, byte) in [(1, 20), (1, 60), (1, 4_095), (root, 0), (root, 3), (root, 4_000), (root, 4_088)] {
            let copy = try TemporaryFolder()
            try FileManager.default.copyItem(atPath: folder.databasePath, toPath: copy.databasePath)
            var pages = try DatabasePages(copy.databasePath)
            try pages.flip(bit: byte % 8, ofByte: byte, inPage: page)
            let engine = SQLiteStorageEngine(folder: copy.path)
            let error = await #expect(throws: StorageError.self, "byte \(byte) of page \(page)") {
                try engine.start()
                _ = try await engine.load(TestData.key("s1"))
            }
            engine.close()
            let words = "page \(page) fails its checksum"
            #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        }
    }

    @Test func `a page that a program without checksums wrote is reported`() async throws {
        let folder = try TemporaryFolder()
        try await filled(folder, sessions: 3)
        do {
            let raw = try RawDatabase(folder.databasePath, stampsPages: false)
            try raw.execute("UPDATE session SET created = 2 WHERE sid = 1; PRAGMA wal_checkpoint(TRUNCATE)")
        }
        let engine = try folder.engine()
        defer { engine.close() }
        await #expect(throws: StorageError.self) { _ = try await engine.load(TestData.key("s1")) }
    }
}
