// Checks the folders that an engine opens, and the folders that it refuses.

import Foundation
import ItemStorageConformance
import RivuletSQLite
import RivuletSessions
import RivuletStores
import StorageConformance
import Testing

@Suite struct SQLiteStorageOpeningTests {
    private func error(opening path: String) throws -> StorageError {
        try #require(throws: StorageError.self) { try SQLiteStorageEngine(folder: path).start() }
    }

    @Test func `makes the folder and everything above it`() async throws {
        let folder = try TemporaryFolder()
        let engine = SQLiteStorageEngine(folder: folder.path + "/a/b//c/")
        try engine.start()
        _ = try await engine.fill(upTo: 1)
        engine.close()
        #expect(folder.byteCount(of: "a/b/c/rivulet.db") != nil)
    }

    @Test func `finds the stored data after it was closed`() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        let head = try await first.fill(upTo: 3)
        _ = try await first.compact(TestData.key(), at: head, snapshot: TestData.snapshot(3), keepingFrom: 2)
        let before = try await first.load(TestData.key())
        first.close()
        let second = try folder.engine()
        defer { second.close() }
        #expect(try await second.load(TestData.key()) == before)
        #expect(try await second.append(TestData.key(), at: .after(head), [TestData.entry(4)]).head().version == 4)
    }

    @Test func `leaves one complete file when it is closed`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        _ = try await engine.fill(upTo: 1)
        #expect(folder.byteCount(of: "rivulet.db-wal") != nil)
        engine.close()
        #expect(folder.byteCount(of: "rivulet.db-wal") == nil)
        #expect(folder.byteCount(of: "rivulet.db-shm") == nil)
        #expect(try RawDatabase(folder.databasePath).text("PRAGMA integrity_check") == "ok")
    }

    @Test func `makes a database with Rivulet's application id`() throws {
        let folder = try TemporaryFolder()
        try folder.engine().close()
        let raw = try RawDatabase(folder.databasePath)
        #expect(try raw.text("PRAGMA application_id") == "\(0x5249_5655)")
        #expect(try raw.text("PRAGMA user_version") == "10")
        #expect(try raw.text("PRAGMA journal_mode") == "wal")
        #expect(try raw.text("PRAGMA auto_vacuum") == "2")
        #expect(try raw.text("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND strict = 1") == "15")
    }

    @Test func `refuses a folder that another server uses, and names the lock file and the process`() throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        defer { first.close() }
        guard case .unavailable(let detail) = try error(opening: folder.path) else {
            Issue.record("not unavailable")
            return
        }
        #expect(detail.contains("\(folder.path)/rivulet.lock is locked by process \(getpid())"))
        #expect(detail.contains("stop that server, or give this one another folder"))
    }

    @Test func `a child process that is being started inherits no lock`() throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        let copies = descriptorCopies(of: folder.path + "/rivulet.lock")
        defer { for copy in copies { close(copy) } }
        #expect(!copies.isEmpty)
        first.close()
        try folder.engine().close()
    }

    @Test func `starts at the second try, once the other server has ended`() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        let second = SQLiteStorageEngine(folder: folder.path)
        #expect(throws: StorageError.self) { try second.start() }
        first.close()
        try second.start()
        defer { second.close() }
        _ = try await second.fill(upTo: 1)
    }

    @Test func `releases the folder when the engine is released`() async throws {
        let folder = try TemporaryFolder()
        do {
            let engine = try folder.engine()
            _ = try await engine.fill(upTo: 1)
        }
        let next = try folder.engine()
        defer { next.close() }
        #expect(try await next.load(TestData.key())?.head.version == 1)
    }

    @Test func `refuses a path that is a file, and names it`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        try Data().write(to: URL(fileURLWithPath: path))
        for path in [path, path + "/below"] {
            guard case .unavailable(let detail) = try error(opening: path) else {
                Issue.record("not unavailable")
                return
            }
            #expect(detail.contains(folder.path + "/file"))
            #expect(detail.contains("Not a directory"))
        }
    }

    @Test func `refuses a folder that it cannot make, and names it`() throws {
        guard case .unavailable(let detail) = try error(opening: "/proc/rivulet/data") else {
            Issue.record("not unavailable")
            return
        }
        #expect(detail.contains("cannot make the data folder /proc/rivulet"))
        #expect(detail.contains("let the user of this process read and write there, or name another folder"))
    }

    @Test func `refuses a newer layout, and says which version to run`() throws {
        let folder = try TemporaryFolder()
        try folder.engine().close()
        try RawDatabase(folder.databasePath).execute("PRAGMA user_version = 11")
        let expected = StorageError.incompatible(
            detail: "\(folder.databasePath) has layout 11, this server reads layout 10: "
                + "run the Rivulet version that wrote it, or give this one another data folder"
        )
        #expect(try error(opening: folder.path) == expected)
        #expect(try RawDatabase(folder.databasePath).text("PRAGMA user_version") == "11")
    }

    @Test func `brings a database of the first layout up to date, and keeps its data`() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        let head = try await first.fill(upTo: 3)
        first.close()
        let raw = try RawDatabase(folder.databasePath)
        try raw.goBackToLayout1()
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(try raw.text("PRAGMA user_version") == "10")
        #expect(try raw.text("SELECT count(*) FROM sqlite_schema WHERE name = 'log_sid_cmd'") == "0")
        let stored = try await engine.load(TestData.key())
        #expect(stored?.head == head)
        #expect(stored?.tail.count == 3)
        let answer = IdempotencyRecord(id: "a", time: 1, fingerprint: [1], body: [2])
        let kept = IdempotencyRecords([answer], droppingBefore: .min)
        _ = try await engine.append(TestData.key(), at: .after(head), [], keeping: kept)
        #expect(try await engine.idempotencyRecord(TestData.key(), epoch: head.epoch, id: "a") == answer)
    }

    @Test func `brings a database of the second layout up to date, and keeps its data`() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        let head = try await first.fill(upTo: 3)
        let answer = IdempotencyRecord(id: "a", time: 1, fingerprint: [1], body: [2])
        let kept = IdempotencyRecords([answer], droppingBefore: .min)
        _ = try await first.append(TestData.key(), at: .after(head), [], keeping: kept)
        let before = try await first.load(TestData.key())
        first.close()
        let raw = try RawDatabase(folder.databasePath)
        try raw.goBackToLayout2()
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(try raw.text("PRAGMA user_version") == "10")
        #expect(try await engine.load(TestData.key()) == before)
        #expect(try await engine.idempotencyRecord(TestData.key(), epoch: head.epoch, id: "a") == answer)
        let notes = engine.collection("notes")
        #expect(try await notes.contents() == StoredCollection())
        try await notes.commit([.put(key: "a", document: [1])])
        #expect(try await notes.contents().items.map(\.document) == [[1]])
    }

    @Test func `brings a database of the third layout up to date, and finds every entry`() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        let head = try await first.fill(upTo: 3)
        _ = try await first.fill("two", upTo: 2)
        first.close()
        let raw = try RawDatabase(folder.databasePath)
        try raw.goBackToLayout3()
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(try raw.text("PRAGMA user_version") == "10")
        #expect(try raw.text("SELECT count(*) FROM sqlite_schema WHERE name = 'log_sid_v'") == "0")
        #expect(try raw.text("SELECT count(*) FROM log_index") == "5")
        #expect(try await engine.load(TestData.key())?.tail == TestData.entries(1...3))
        _ = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(4)]).head()
        #expect(try await engine.load(TestData.key())?.tail == TestData.entries(1...4))
        #expect(try await engine.load(TestData.key("two"))?.tail == TestData.entries(1...2))
    }

    @Test func `brings a database of the fourth layout up to date, and keeps snapshots of older schemas from then on`()
        async throws
    {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        let head = try await first.fill(upTo: 2)
        let older = StateSnapshot(version: 2, schema: 1, state: [1])
        _ = try await first.compact(TestData.key(), at: head, snapshot: older, keepingFrom: 1)
        first.close()
        let raw = try RawDatabase(folder.databasePath)
        try raw.goBackToLayout4()
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(try raw.text("PRAGMA user_version") == "10")
        let newer = StateSnapshot(version: 2, schema: 2, state: [2])
        _ = try await engine.compact(TestData.key(), at: head, snapshot: newer, keepingFrom: 1)
        #expect(try await engine.load(TestData.key())?.snapshot == newer)
        #expect(try await engine.past(TestData.key(), epoch: head.epoch, at: 2)?.snapshot == older)
    }

    @Test func `brings a database of the eighth layout up to date, and keeps callers from then on`() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        let head = try await first.fill(upTo: 3)
        let stored = try await first.load(TestData.key())
        first.close()
        let raw = try RawDatabase(folder.databasePath)
        try raw.goBackToLayout8()
        #expect(try SQLiteStorageInspection(folder: folder.path).load(TestData.key()) == stored)
        #expect(try raw.text("PRAGMA user_version") == "8")
        let second = try folder.engine()
        #expect(try raw.text("PRAGMA user_version") == "10")
        #expect(try await second.load(TestData.key()) == stored)
        _ = try await second.append(TestData.key(), at: .after(head), [TestData.entry(4, by: "ann")]).head()
        second.close()
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(try await engine.load(TestData.key())?.tail.map(\.by) == [nil, nil, nil, "ann"])
        #expect(try SQLiteCheck.run(folder: folder.path) == [])
    }

    @Test func `leaves a database as it is when there is no space to bring it up to date`() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        _ = try await first.fill(upTo: 900, byteCount: 0)
        first.close()
        let raw = try RawDatabase(folder.databasePath)
        try raw.goBackToLayout3()
        try raw.execute("VACUUM")
        let pages = try #require(try raw.text("PRAGMA page_count").flatMap { Int($0) })
        let error = #expect(throws: StorageError.self) {
            _ = try folder.engine { $0.databaseBytesMax = pages * 4_096 }
        }
        guard case .full = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try raw.text("PRAGMA user_version") == "3")
        #expect(try raw.text("SELECT count(*) FROM sqlite_schema WHERE name = 'log_sid_v'") == "1")
        #expect(try raw.text("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'log_index%'") == "0")
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(try await engine.load(TestData.key())?.tail.count == 900)
    }

    @Test func `refuses a database of another program and leaves it alone`() throws {
        let folder = try TemporaryFolder()
        try RawDatabase(folder.databasePath).execute("CREATE TABLE theirs(x)")
        let expected = StorageError.incompatible(
            detail: "\(folder.databasePath) is not a Rivulet database: give this server another data folder"
        )
        #expect(try error(opening: folder.path) == expected)
        #expect(try RawDatabase(folder.databasePath).text("SELECT group_concat(name) FROM sqlite_schema") == "theirs")
    }

    @Test func `refuses a file that is no database as damaged`() throws {
        let folder = try TemporaryFolder()
        try Data(repeating: 65, count: 8_192).write(to: URL(fileURLWithPath: folder.databasePath))
        guard case .corrupt(nil, let detail) = try error(opening: folder.path) else {
            Issue.record("not corrupt")
            return
        }
        #expect(detail.contains(folder.databasePath))
    }

    @Test func `reports a full disk if an empty database does not fit`() throws {
        let folder = try TemporaryFolder()
        folder.failDisk(write: ENOSPC)
        guard case .full(let detail) = try error(opening: folder.path) else {
            Issue.record("not full")
            return
        }
        #expect(detail.contains(folder.databasePath))
        folder.failDisk()
        try folder.engine().close()
    }
}
