// Checks the reading of a data folder beside the server that uses it.

import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct SQLiteStorageInspectionTests {
    @Test func `reads what is stored while a server uses the folder`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        _ = try await engine.fill(upTo: 3)
        let inspection = try SQLiteStorageInspection(folder: folder.path)
        let key = TestData.key()
        #expect(try inspection.apps() == [key.app])
        #expect(try inspection.sessions(app: key.app, after: nil, limit: 10) == [key.id])
        #expect(try inspection.sessions(app: key.app, after: key.id, limit: 10) == [])
        let stored = try await engine.load(key)
        #expect(try inspection.load(key) == stored)
        _ = try await engine.delete(key)
        #expect(try inspection.load(key) == nil)
    }

    @Test func `reads the writes of a later server, also if that server uses row numbers again`()
        async throws
    {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        _ = try await first.fill(upTo: 3)
        _ = try await first.fill("two", upTo: 2)
        let inspection = try SQLiteStorageInspection(folder: folder.path)
        #expect(try inspection.load(TestData.key("two"))?.head.version == 2)
        #expect(try await first.delete(TestData.key("two")))
        first.close()
        let second = try folder.engine()
        defer { second.close() }
        _ = try await second.fill("three", upTo: 4)
        #expect(try inspection.load(TestData.key("three"))?.tail == TestData.entries(1...4))
        #expect(try inspection.load(TestData.key())?.tail == TestData.entries(1...3))
        #expect(try inspection.load(TestData.key("two")) == nil)
    }

    @Test func `reads a folder that no server uses, and does not block a later server`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        _ = try await engine.fill(upTo: 1)
        engine.close()
        #expect(try SQLiteStorageInspection(folder: folder.path).load(TestData.key())?.head.version == 1)
        try folder.engine().close()
    }

    @Test func `reads a database of an earlier layout, and leaves it as it is`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        let head = try await engine.fill(upTo: 5)
        let at = SessionHead(epoch: head.epoch, version: 2, token: head.token)
        _ = try await engine.compact(TestData.key(), at: at, snapshot: TestData.snapshot(2), keepingFrom: 3)
        let stored = try await engine.load(TestData.key())
        engine.close()
        let raw = try RawDatabase(folder.databasePath)
        try raw.goBackToLayout1()
        let inspection = try SQLiteStorageInspection(folder: folder.path)
        #expect(try inspection.load(TestData.key()) == stored)
        #expect(try inspection.sessions(app: TestData.key().app, after: nil, limit: 10) == [TestData.key().id])
        #expect(try raw.text("PRAGMA user_version") == "1")
    }

    @Test func `refuses a folder without a database, and makes none`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: StorageError.self) { try SQLiteStorageInspection(folder: folder.path) }
        #expect(folder.byteCount(of: "rivulet.db") == nil)
    }
}
