// Checks the files of a data folder that backups, vacuums and starts find.

import Foundation
import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct DataFolderFilesTests {
    /// Creates a database with two entries.
    private func makeDatabase(in folder: String) async throws {
        let engine = SQLiteStorageEngine(folder: folder)
        try engine.start()
        _ = try await engine.fill(upTo: 2)
        engine.close()
    }

    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    @Test func `a real folder is in the backup, also if an earlier link leads to it`() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        for path in ["", "/values"] { try await makeDatabase(in: folder.path + path) }
        try link(folder.path + "/all", to: "values")
        let contents = try SQLiteBackup.create(of: folder.path, in: other.path + "/backup")
        #expect(contents.sessionCount == 3 && contents.skipped == [])
        _ = try SQLiteBackup.restore(other.path + "/backup", to: other.path + "/again")
        for name in ["values", "all"] {
            let restored = try SQLiteStorageInspection(folder: other.path + "/again/" + name)
            #expect(try restored.load(TestData.key())?.tail.count == 2, "\(name)")
        }
        let vacuumed = try SQLiteVacuum.run(folder: folder.path)
        #expect(vacuumed.map(\.path) == ["/rivulet.db", "/values/rivulet.db"].map { folder.path + $0 })
    }

    @Test func `an unreadable folder of another program is named, and does not stop a backup`() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        try await makeDatabase(in: folder.path)
        let cache = folder.path + "/cache"
        try FileManager.default.createDirectory(atPath: cache, withIntermediateDirectories: false)
        try link(cache + "/gone.sqlite3", to: "nowhere")
        let locking = try RawDatabase(cache + "/locked.sqlite3")
        try locking.execute("CREATE TABLE a(b)")
        try locking.execute("BEGIN EXCLUSIVE")
        let contents = try SQLiteBackup.create(of: folder.path, in: other.path + "/backup")
        #expect(contents.sessionCount == 1)
        var skipped: [String] = []
        let vacuumed = try SQLiteVacuum.run(folder: folder.path) { skipped.append($0) }
        #expect(vacuumed.map(\.path) == [folder.databasePath])
        for lines in [contents.skipped, skipped] {
            #expect(lines.count == 2)
            #expect(lines.first?.hasPrefix("cache/gone.sqlite3: ") == true)
            #expect(lines.last?.hasPrefix("cache/locked.sqlite3: ") == true)
        }
    }

    @Test func `an unreadable folder with databases stops a backup`() async throws {
        for path in ["", "/values", "/states"] {
            let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
            for place in Set(["", path]) { try await makeDatabase(in: folder.path + place) }
            try link("\(folder.path)\(path)/gone.sqlite3", to: "nowhere")
            let error = #expect(throws: StorageError.self) {
                try SQLiteBackup.create(of: folder.path, in: other.path + "/backup")
            }
            #expect(error?.description.contains("\(folder.path)\(path)/gone.sqlite3") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: other.path) == [])
        }
    }

    @Test func `a start names its own older database first, and reads no folder of other programs`() async throws {
        let folder = try TemporaryFolder()
        for path in ["", "/values", "/cache"] {
            try await makeDatabase(in: folder.path + path)
            try RawDatabase(folder.path + path + "/rivulet.db").goBackToLayout5()
        }
        try link(folder.path + "/a.sqlite3", to: "nowhere")
        let engine = try folder.engine()
        defer { engine.close() }
        let notices = engine.startNotices
        #expect(notices.count == 3, "\(notices)")
        #expect(notices.first?.hasPrefix("the database \(folder.databasePath) was made by an older version") == true)
        #expect(notices.dropFirst().first?.hasPrefix("the database \(folder.path)/values/rivulet.db was") == true)
        #expect(notices.last?.contains("in \(folder.path): a.sqlite3: ") == true)
    }

    @Test func `a backup with a database of values only is left as it is`() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        try await makeDatabase(in: folder.path + "/values")
        let backup = other.path + "/backup"
        _ = try SQLiteBackup.create(of: folder.path, in: backup)
        for path in [backup, backup + "/values"] {
            let error = #expect(throws: StorageError.self) { try SQLiteVacuum.run(folder: path) }
            #expect(error?.description.contains("\(backup) is a backup, and was left as it is") == true)
        }
        let engine = SQLiteStorageEngine(folder: backup + "/states/")
        #expect(throws: StorageError.self) { try engine.start() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: backup).sorted() == ["rivulet.backup", "values"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: backup + "/values") == ["rivulet.db"])
        #expect(try SQLiteBackup.verify(backup).damages == [])
    }

    @Test func `a database with a name that a backup's list cannot have is refused`() async throws {
        for name in ["two\nlines", "a\nfile 1 2 b"] {
            let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
            let engine = try #require(SQLiteStorageEngine(directory: folder.path, databaseFilename: name))
            _ = try await engine.fill(upTo: 1)
            engine.close()
            try FileManager.default.createDirectory(atPath: other.path + "/to", withIntermediateDirectories: false)
            let error = #expect(throws: StorageError.self) {
                try SQLiteBackup.create(of: folder.path, in: other.path + "/to")
            }
            #expect(error?.description.contains("rename the database; no backup was made") == true, "\(name)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: other.path + "/to") == [], "\(name)")
        }
    }

    @Test func `a database whose name has spaces at its ends is in the backup under that name`() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let name = "  spaces "
        let engine = try #require(SQLiteStorageEngine(directory: folder.path, databaseFilename: name))
        _ = try await engine.fill(upTo: 2)
        engine.close()
        _ = try SQLiteBackup.create(of: folder.path, in: other.path + "/backup")
        _ = try SQLiteBackup.restore(other.path + "/backup", to: other.path + "/again")
        let again = try #require(SQLiteStorageEngine(directory: other.path + "/again", databaseFilename: name))
        defer { again.close() }
        #expect(try await again.load(TestData.key())?.tail.count == 2)
    }
}
