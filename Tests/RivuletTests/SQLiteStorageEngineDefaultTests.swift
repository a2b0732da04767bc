// Checks the databases in the data folder of stores without a server.

import Foundation
import Rivulet
import Testing

@Suite struct SQLiteStorageEngineDefaultTests {
    @Test func `E-29: a path in the data folder is one database for the whole process`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rivulet-\(UUID())").path
        defer {
            do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) }
        }
        let notes = try SQLiteStorageEngine.default(appendingPath: "a/notes", dataFolder: folder)
        try await notes.collection("notes").commit([.put(key: "a", document: [1])])
        #expect(try SQLiteStorageEngine.default(appendingPath: "a/notes", dataFolder: folder) === notes)
        let drafts = try SQLiteStorageEngine.default(appendingPath: "drafts", dataFolder: folder)
        #expect(try await drafts.collection("notes").contents() == StoredCollection())
        #expect(FileManager.default.fileExists(atPath: folder + "/a/notes/rivulet.db"))
        try Data().write(to: URL(filePath: folder + "/file"))
        #expect(throws: StorageError.self) {
            try SQLiteStorageEngine.default(appendingPath: "file", dataFolder: folder)
        }
        notes.close()
        drafts.close()
    }
}
