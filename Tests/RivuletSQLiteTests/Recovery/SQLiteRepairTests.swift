// Checks the search for damage in a data folder, and the repair of indexes.

import Foundation
import ItemStorageConformance
import RivuletSQLite
import RivuletSessions
import RivuletStores
import StorageConformance
import Testing

@Suite struct SQLiteRepairTests {
    /// A folder with sessions named zero to three, after the stop of its server.
    private func filled() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.unindexedEntriesMax = 1 }
        for (index, name) in ["zero", "one", "two", "three"].enumerated() {
            _ = try await engine.fill(name, upTo: UInt64(index) + 4)
        }
        try await engine.collection("notes").commit([.put(key: "a", document: [1])])
        engine.close()
        return folder
    }

    /// Flips a bit of a text on the first page of an index, as a failing disk does.
    ///
    /// With `isStamped`, the page's checksum matches the damage.
    private func flip(
        _ text: String,
        inIndex index: String,
        of folder: TemporaryFolder,
        isStamped: Bool = true
    ) throws {
        let page = try #require(try RawDatabase(folder.databasePath).rootPage(of: index))
        var pages = try DatabasePages(folder.databasePath)
        let offset = try #require(pages.offset(of: text, inPage: page)) + text.utf8.count - 1
        if isStamped {
            try pages.edit(page: page) { $0[$0.startIndex + offset] ^= 0x10 }
        } else {
            try pages.flip(bit: 4, ofByte: offset, inPage: page)
        }
    }

    private func repair(_ folder: TemporaryFolder) throws(StorageError) -> SQLiteRepair.Outcome {
        try SQLiteRepair.run(folder: folder.path, time: 1_763_912_345_000)
    }

    @Test func `a folder without damage is clean, and a repair leaves it as it is`() async throws {
        let folder = try await filled()
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.databasePath))
        #expect(try SQLiteCheck.run(folder: folder.path) == [])
        #expect(try repair(folder).lines == ["\(folder.databasePath) has no damage"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.databasePath)) == before)
    }

    @Test(arguments: [true, false])
    func `a session that is missing in its index is named, and found again after a repair`(
        isStamped: Bool
    ) async throws {
        let folder = try await filled()
        try flip("countertwo", inIndex: "sqlite_autoindex_session_1", of: folder, isStamped: isStamped)
        let damaged = try Data(contentsOf: URL(fileURLWithPath: folder.databasePath))
        let damages = try SQLiteCheck.run(folder: folder.path)
        if isStamped {
            #expect(damages.contains { $0.hasPrefix("rivulet.db: session counter/two: ") })
            #expect(!damages.contains { $0.contains("counter/one") })
        } else {
            #expect(damages.contains { $0.contains("fails its checksum") || $0.contains("unable to get the page") })
        }
        let outcome = try repair(folder)
        let kept = folder.databasePath + ".before-repair-20251123T153905Z"
        #expect(outcome.lines.first == "\(folder.databasePath) was copied to \(kept)")
        #expect(
            outcome.lines.contains {
                $0.hasPrefix("\(folder.databasePath) was written anew: all indexes are built from its rows (")
            }
        )
        #expect(outcome.remaining == [])
        #expect(try Data(contentsOf: URL(fileURLWithPath: kept)) == damaged)
        #expect(try SQLiteCheck.run(folder: folder.path) == [])
        let engine = try folder.engine()
        defer { engine.close() }
        for (index, name) in ["zero", "one", "two", "three"].enumerated() {
            #expect(try await engine.load(TestData.key(name))?.tail == TestData.entries(1...UInt64(index) + 4))
        }
        #expect(try await engine.collection("notes").contents().items.map(\.key) == ["a"])
        #expect(try await engine.fill("four", upTo: 1).token == 5)
    }

    @Test func `of two sessions with one name the older one keeps the name`() async throws {
        let folder = try await filled()
        try flip("countertwo", inIndex: "sqlite_autoindex_session_1", of: folder)
        try RawDatabase(folder.databasePath).execute(
            "INSERT INTO session(sid, app, id, epoch, created, crc) VALUES (17, 'counter', 'two', 'later000', 5, 0)"
        )
        #expect(
            try SQLiteCheck.run(folder: folder.path).contains(
                "rivulet.db: session counter/two: two sessions have this name"
            )
        )
        let outcome = try repair(folder)
        #expect(
            outcome.lines.last
                == "\(folder.databasePath): two rows of the table session had the name two; the newer row has the name two-repaired-17 now"
        )
        #expect(outcome.remaining == [])
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(try await engine.load(TestData.key("two"))?.head.version == 6)
        #expect(try await engine.load(TestData.key("two-repaired-17"))?.head.epoch == "later000")
    }

    @Test func `a store that is missing in its index is found again after a repair`() async throws {
        let folder = try await filled()
        try flip("notes", inIndex: "sqlite_autoindex_collection_1", of: folder)
        #expect(try SQLiteCheck.run(folder: folder.path) != [])
        #expect(try repair(folder).remaining == [])
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(try await engine.collection("notes").contents().items.map(\.key) == ["a"])
    }

    @Test(arguments: [
        "DELETE FROM log_index WHERE sid = 3 AND v = 2", "UPDATE log_index SET seq = 99 WHERE sid = 3 AND v = 4",
    ])
    func `a repair builds the index of the log again`(damage: String) async throws {
        let folder = try await filled()
        try RawDatabase(folder.databasePath).execute(damage)
        #expect(try SQLiteCheck.run(folder: folder.path).contains { $0.hasPrefix("rivulet.db: session counter/two: ") })
        #expect(try repair(folder).remaining == [])
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(try await engine.load(TestData.key("two"))?.tail == TestData.entries(1...6))
    }

    @Test func `a missing version and a damaged row are named, and a repair does not hide them`() async throws {
        let folder = try await filled()
        try RawDatabase(folder.databasePath).execute(
            "DELETE FROM log WHERE sid = 3 AND v = 2; DELETE FROM log_index WHERE sid = 3 AND v = 2; "
                + "UPDATE log SET event = x'00' WHERE sid = 4 AND v = 3"
        )
        let damages = try SQLiteCheck.run(folder: folder.path)
        #expect(damages.contains("rivulet.db: session counter/two: of the versions 1 to 6 only 5 are in the log"))
        #expect(damages.contains("rivulet.db: session counter/three: the log entry of version 3 fails its checksum"))
        let outcome = try repair(folder)
        #expect(outcome.lines == [])
        #expect(
            outcome.remaining.contains { $0.contains("counter/three") }
                && outcome.remaining.contains { $0.contains("counter/two") }
        )
    }

    @Test func `damaged tables are not repaired, and nothing is changed`() async throws {
        let folder = try await filled()
        let engine = try folder.engine()
        _ = try await engine.fill("large", upTo: 200, byteCount: 400)
        engine.close()
        try folder.overwritePage(ofTable: "log")
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.databasePath))
        let error = #expect(throws: StorageError.self) { try repair(folder) }
        guard case .corrupt(nil, let detail) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.contains("tables are damaged, which a repair cannot undo. Nothing was changed"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.databasePath)) == before)
        #expect(folder.byteCount(of: "rivulet.db.vacuum") == nil)
    }

    @Test func `a folder that a server uses can be checked, but not repaired`() async throws {
        let folder = try await filled()
        let engine = try folder.engine()
        defer { engine.close() }
        _ = try await engine.fill("five", upTo: 1)
        #expect(throws: StorageError.self) { try repair(folder) }
        #expect(try SQLiteCheck.run(folder: folder.path) == [])
    }

    @Test func `a check names a damaged log, and a repair keeps it`() async throws {
        let running = try await filled()
        let engine = try running.engine()
        defer { engine.close() }
        for number in 0..<8 { _ = try await engine.fill("more \(number)", upTo: 1) }
        let folder = try running.copyOfFiles()
        var log = try LogBytes(of: folder)
        log.flip(frame: log.commits[2], at: 99)
        try log.write(to: folder)
        let damages = try SQLiteCheck.run(folder: folder.path)
        #expect(
            damages.first?.hasPrefix("rivulet.db-wal: ") == true
                && damages.first?.hasSuffix("follow a damaged frame or header") == true
        )
        let outcome = try repair(folder)
        #expect(outcome.lines.first?.contains("was damaged: at least ") == true)
        #expect(outcome.lines.last == "\(folder.databasePath) has no damage")
        #expect(try SQLiteCheck.run(folder: folder.path) == [])
    }
}
