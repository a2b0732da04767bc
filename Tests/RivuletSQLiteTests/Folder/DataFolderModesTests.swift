// Checks that only their owner may access the data folder and its files.

import Foundation
import RivuletSQLite
import Testing

@Suite struct DataFolderModesTests {
    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? NSNumber).intValue
    }

    private func setMode(_ mode: Int, of path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: NSNumber(value: mode)], ofItemAtPath: path)
    }

    private static let files = ["rivulet.db", "rivulet.db-wal", "rivulet.db-shm", "rivulet.lock"]

    @Test func `a folder that the engine makes, and its files, are for their owner alone`() async throws {
        let folder = try TemporaryFolder()
        let engine = SQLiteStorageEngine(folder: folder.path + "/a/b")
        try engine.start()
        defer { engine.close() }
        _ = try await engine.fill(upTo: 1)
        #expect(engine.startNotices == [])
        for path in ["/a", "/a/b"] { #expect(try mode(folder.path + path) == 0o700) }
        for file in Self.files { #expect(try mode("\(folder.path)/a/b/\(file)") == 0o600, "\(file)") }
    }

    @Test func `a folder and files with a laxer mode are tightened at the start`() async throws {
        let folder = try TemporaryFolder()
        try folder.engine().close()
        try setMode(0o755, of: folder.path)
        for file in ["rivulet.db", "rivulet.lock"] { try setMode(0o644, of: folder.path + "/" + file) }
        let engine = try folder.engine()
        defer { engine.close() }
        _ = try await engine.fill(upTo: 1)
        #expect(engine.startNotices == [])
        #expect(try mode(folder.path) == 0o700)
        for file in Self.files { #expect(try mode(folder.path + "/" + file) == 0o600, "\(file)") }
    }

    @Test func `a folder with files of other programs keeps its mode and is named, its database is tightened`() throws {
        let folder = try TemporaryFolder()
        try folder.engine().close()
        try Data().write(to: URL(fileURLWithPath: folder.path + "/index.html"))
        try setMode(0o755, of: folder.path)
        try setMode(0o644, of: folder.databasePath)
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(try mode(folder.path) == 0o755)
        #expect(try mode(folder.databasePath) == 0o600)
        #expect(engine.startNotices.count == 1)
        #expect(engine.startNotices.first?.contains("other users may look into \(folder.path): run chmod") == true)
    }
}
