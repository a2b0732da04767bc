// Checks databases that stores have without a server.

import Foundation
import ItemStorageConformance
import RivuletSQLite
import RivuletSessions
import RivuletStores
import Testing

@Suite struct SQLiteStorageEngineOpeningTests {
    @Test func `E-29: a separate database is open at once, and keeps its items`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/new/folder"
        let first = try #require(SQLiteStorageEngine(directory: path))
        try await first.collection("notes").commit([.put(key: "a", document: [1])])
        first.close()
        #expect(folder.byteCount(of: "new/folder/data.sqlite3") != nil)
        let second = try #require(SQLiteStorageEngine(directory: path))
        defer { second.close() }
        #expect(try await second.collection("notes").contents().items.map(\.document) == [[1]])
    }

    @Test func `E-29: two databases can be in one directory, beside a server's database`() async throws {
        let folder = try TemporaryFolder()
        let server = try folder.engine()
        let first = try #require(SQLiteStorageEngine(directory: folder.path))
        let second = try #require(SQLiteStorageEngine(directory: folder.path, databaseFilename: "my.notes"))
        let engines = [server, first, second]
        defer { for engine in engines { engine.close() } }
        for (index, engine) in engines.enumerated() {
            try await engine.collection("notes").commit([.put(key: "a", document: [UInt8(index)])])
        }
        for (index, engine) in engines.enumerated() {
            #expect(try await engine.collection("notes").contents().items.map(\.document) == [[UInt8(index)]])
        }
    }

    @Test func `E-29: an engine that cannot be opened is nil`() throws {
        let folder = try TemporaryFolder()
        let first = try #require(SQLiteStorageEngine(directory: folder.path))
        defer { first.close() }
        #expect(SQLiteStorageEngine(directory: folder.path) == nil)
        #expect(SQLiteStorageEngine(directory: "/proc/rivulet") == nil)
        for name in ["", "../data", "a/b", "a\0b"] {
            #expect(SQLiteStorageEngine(directory: folder.path, databaseFilename: name) == nil)
        }
        try Data(repeating: 65, count: 8_192).write(to: URL(fileURLWithPath: folder.path + "/broken.sqlite3"))
        #expect(SQLiteStorageEngine(directory: folder.path, databaseFilename: "broken") == nil)
    }
}
