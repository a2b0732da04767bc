// Part of Rivulet. See README.md for the architecture.
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

    @Test func `reads a folder that no server uses, and leaves it for one`() async throws {
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
        _ = try await engine.fill(upTo: 1)
        engine.close()
        let raw = try RawDatabase(folder.databasePath)
        try raw.goBackToLayout1()
        #expect(try SQLiteStorageInspection(folder: folder.path).load(TestData.key())?.head.version == 1)
        #expect(try raw.text("PRAGMA user_version") == "1")
    }

    @Test func `refuses a folder without a database, and makes none`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: StorageError.self) { try SQLiteStorageInspection(folder: folder.path) }
        #expect(folder.byteCount(of: "rivulet.db") == nil)
    }
}
