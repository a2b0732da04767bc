// Checks backups beside an engine, and their contents after a restore.

import Foundation
import ItemStorageConformance
import RivuletSQLite
import RivuletSessions
import RivuletStores
import StorageConformance
import Testing

@Suite struct SQLiteBackupTests {
    @Test func `a backup beside an engine has the stored data, and no text of a deleted session`() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        // The first step of erasing runs at once. The session is larger than that step.
        let engine = try folder.engine { limits in
            limits.eraseStepBytesMax = 10_000
            limits.erasePauseMilliseconds = 3_600_000
        }
        _ = try await engine.fill(upTo: 3)
        let text = Array("canary-77aa".utf8)
        for version: UInt64 in 1...4 {
            let entry = LogEntry(
                version: version,
                time: 1,
                commandID: nil,
                event: text,
                changes: text + TestData.entry(9, byteCount: 9_000).changes
            )
            let point: AppendPoint =
                version == 1
                ? TestData.creating : .after(try #require(try await engine.load(TestData.key("gone"))).head)
            _ = try await engine.append(TestData.key("gone"), at: point, [entry]).head()
        }
        #expect(try await engine.delete(TestData.key("gone")))
        let contents = try SQLiteBackup.create(of: folder.path, in: other.path + "/backup")
        #expect(engine.sessionsToEraseCount == 1)
        engine.close()
        #expect(contents.sessionCount == 1 && contents.damages == [])
        let backup = other.path + "/backup/rivulet.db"
        let bytes = try #require(FileManager.default.contents(atPath: backup))
        #expect(bytes.range(of: Data(text)) == nil)
        #expect(try SQLiteBackup.verify(other.path + "/backup").damages == [])
        _ = try SQLiteBackup.restore(other.path + "/backup", to: other.path + "/again")
        let again = SQLiteStorageEngine(folder: other.path + "/again")
        try again.start()
        defer { again.close() }
        #expect(again.startNotices == [])
        #expect(try await again.load(TestData.key())?.tail == TestData.entries(1...3))
        #expect(try await again.load(TestData.key("gone")) == nil)
    }

    @Test func `the databases of subfolders are in a backup, and are vacuumed`() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        for path in [folder.path, folder.path + "/values"] {
            let engine = SQLiteStorageEngine(folder: path)
            try engine.start()
            _ = try await engine.fill(upTo: 2)
            engine.close()
        }
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.path + "/notes.txt"))
        let contents = try SQLiteBackup.create(of: folder.path, in: other.path + "/backup")
        #expect(contents.sessionCount == 2 && contents.leftOut == ["notes.txt"] && !contents.hasKey)
        _ = try SQLiteBackup.restore(other.path + "/backup", to: other.path + "/again")
        #expect(try SQLiteStorageInspection(folder: other.path + "/again/values").load(TestData.key())?.tail.count == 2)
        let vacuumed = try SQLiteVacuum.run(folder: folder.path)
        #expect(vacuumed.map(\.path) == [folder.path + "/rivulet.db", folder.path + "/values/rivulet.db"])
        #expect(vacuumed.map(\.wasSecured) == [true, true])
    }

    @Test func `vacuum refuses a database that another program reads, and leaves it as it is`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        _ = try await engine.fill(upTo: 2)
        engine.close()
        let before = try #require(FileManager.default.contents(atPath: folder.databasePath))
        do {
            let reader = try RawDatabase(folder.databasePath)
            try reader.execute("BEGIN")
            _ = try reader.text("SELECT count(*) FROM log")
            var limits = SQLiteStorageLimits()
            limits.lockWaitMilliseconds = 10
            #expect(throws: StorageError.self) { try SQLiteVacuum.run(folder: folder.path, limits: limits) }
        }
        #expect(folder.byteCount(of: "rivulet.db.vacuum") == nil)
        #expect(FileManager.default.contents(atPath: folder.databasePath) == before)
        let next = try folder.engine()
        defer { next.close() }
        #expect(try await next.load(TestData.key())?.tail.count == 2)
    }

    @Test func `the files that an interrupted vacuum has left are removed at the start`() throws {
        let folder = try TemporaryFolder()
        let names = ["", "-journal", "-wal", "-shm"].map { "rivulet.db.vacuum" + $0 }
        for name in names { try Data("text".utf8).write(to: URL(fileURLWithPath: folder.path + "/" + name)) }
        try folder.engine().close()
        for name in names { #expect(folder.byteCount(of: name) == nil, "\(name)") }
    }

    @Test func `a restored and a vacuumed database have a write-ahead log, a backup has none`() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let engine = try folder.engine()
        _ = try await engine.fill(upTo: 2)
        engine.close()
        _ = try SQLiteBackup.create(of: folder.path, in: other.path + "/backup")
        _ = try SQLiteBackup.restore(other.path + "/backup", to: other.path + "/again")
        _ = try SQLiteVacuum.run(folder: folder.path)
        for (path, mode) in [("/backup", "delete"), ("/again", "wal")] {
            let database = other.path + path + "/rivulet.db"
            #expect(try RawDatabase(database).text("PRAGMA journal_mode") == mode)
        }
        #expect(try RawDatabase(folder.databasePath).text("PRAGMA journal_mode") == "wal")
        let names = try FileManager.default.contentsOfDirectory(atPath: other.path + "/again")
        #expect(names == ["rivulet.db"])
    }

    // MARK: - Folders

    /// Creates a database with two entries.
    private func makeDatabase(in folder: String) async throws {
        let engine = SQLiteStorageEngine(folder: folder)
        try engine.start()
        _ = try await engine.fill(upTo: 2)
        engine.close()
    }

    @Test func `a data folder may have the list of a backup, and a backup below it is left out`() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        try await makeDatabase(in: folder.path)
        _ = try SQLiteBackup.create(of: folder.path, in: other.path + "/first")
        // The folder looks as if a backup was copied into it without `rivulet backup restore`.
        let list = URL(fileURLWithPath: folder.path + "/rivulet.backup")
        try FileManager.default.copyItem(at: URL(fileURLWithPath: other.path + "/first/rivulet.backup"), to: list)
        try FileManager.default.copyItem(atPath: other.path + "/first", toPath: folder.path + "/monday")
        let contents = try SQLiteBackup.create(of: folder.path, in: other.path + "/second")
        #expect(contents.sessionCount == 1 && contents.leftOut == ["monday"])
        #expect(try SQLiteBackup.verify(other.path + "/second").damages == [])
        #expect(throws: StorageError.self) { try SQLiteVacuum.run(folder: folder.path) }
        try FileManager.default.removeItem(at: list)
        #expect(try SQLiteVacuum.run(folder: folder.path).map(\.path) == [folder.databasePath])
    }

    @Test func `a backup within its data folder is refused, and leaves nothing there`() async throws {
        let folder = try TemporaryFolder()
        try await makeDatabase(in: folder.path)
        for target in [
            folder.path + "/inner", folder.path + "/../\(URL(fileURLWithPath: folder.path).lastPathComponent)/b",
        ] {
            let error = #expect(throws: StorageError.self) { try SQLiteBackup.create(of: folder.path, in: target) }
            #expect(error.map { "\($0)".contains("name a folder outside of the data folder") } == true)
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix("rivulet.") } == []
        )
    }

    @Test func `each link to a folder becomes a separate copy, and a link to an outer folder is skipped`() async throws
    {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        try await makeDatabase(in: folder.path)
        try await makeDatabase(in: other.path + "/values")
        let values = other.path + "/values"
        for (name, target) in [("values", values), ("again", values), ("self", folder.path)] {
            try FileManager.default.createSymbolicLink(atPath: folder.path + "/" + name, withDestinationPath: target)
        }
        let contents = try SQLiteBackup.create(of: folder.path, in: other.path + "/backup")
        #expect(contents.sessionCount == 3 && contents.leftOut == [])
        #expect(contents.skipped == ["self: the link leads to a folder above it"])
        for name in ["again", "values"] {
            let path = other.path + "/backup/\(name)/rivulet.db"
            #expect(try RawDatabase(path).text("SELECT count(*) FROM log") == "2", "\(name)")
        }
        let vacuumed = try SQLiteVacuum.run(folder: folder.path)
        #expect(vacuumed.map(\.path) == [folder.databasePath, folder.path + "/values/rivulet.db"])
    }

    @Test func `a database behind a link is not vacuumed, as its text would stay behind the link`() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        try await makeDatabase(in: other.path)
        try FileManager.default.createSymbolicLink(atPath: folder.databasePath, withDestinationPath: other.databasePath)
        let error = #expect(throws: StorageError.self) { try SQLiteVacuum.run(folder: folder.path) }
        #expect(error?.description.contains("\(folder.databasePath) is a symbolic link") == true)
    }

    @Test func `a database with another file name is in the backup, a database of another program is left out`()
        async throws
    {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let engine = try #require(SQLiteStorageEngine(directory: folder.path, databaseFilename: "notes"))
        _ = try await engine.fill(upTo: 2)
        try RawDatabase(folder.path + "/mine.sqlite3").execute("CREATE TABLE a(b)")
        for name in ["empty.sqlite3", "text.sqlite3"] {
            let text = name.hasPrefix("text") ? String(repeating: "no database ", count: 100) : ""
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path + "/" + name))
        }
        // The engine is still open, so that its writes are in the log only.
        let contents = try SQLiteBackup.create(of: folder.path, in: other.path + "/backup")
        engine.close()
        #expect(contents.sessionCount == 1)
        #expect(contents.leftOut == ["empty.sqlite3", "mine.sqlite3", "text.sqlite3"])
        _ = try SQLiteBackup.restore(other.path + "/backup", to: other.path + "/again")
        let again = try #require(SQLiteStorageEngine(directory: other.path + "/again", databaseFilename: "notes"))
        #expect(try await again.load(TestData.key())?.tail.count == 2)
        again.close()
        #expect(try SQLiteVacuum.run(folder: folder.path).map(\.path) == [folder.path + "/notes.sqlite3"])
    }

    @Test func `a folder with its database in a subfolder is no data folder, as a backup would lack its key`()
        async throws
    {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        try await makeDatabase(in: folder.path + "/data")
        let error = #expect(throws: StorageError.self) {
            try SQLiteBackup.create(of: folder.path, in: other.path + "/backup")
        }
        #expect(error?.description.contains("there is no database of Rivulet's in \(folder.path)") == true)
    }

    // MARK: - Errors

    @Test func `a full disk is named with its own remedy`() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        try await makeDatabase(in: folder.path)
        other.failDisk(write: ENOSPC)
        let error = #expect(throws: StorageError.self) {
            try SQLiteBackup.create(of: folder.path, in: other.path + "/backup")
        }
        guard case .full(let detail) = try #require(error) else {
            Issue.record("not full: \(String(describing: error))")
            return
        }
        #expect(detail.contains(other.path + "/backup") && detail.contains("free space"))
        #expect(!detail.contains("name another folder") && !detail.contains("databaseBytesMax"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.path) == [])
    }

    @Test func `only the error about a damaged session has the hint to delete it`() async throws {
        for (sql, isSession) in [
            ("UPDATE item SET document = x'00'", false), ("UPDATE log SET changes = x'00' WHERE v = 2", true),
        ] {
            let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
            let engine = try folder.engine()
            _ = try await engine.fill(upTo: 2)
            try await engine.collection("notes").commit([.put(key: "a", document: [1])])
            engine.close()
            try RawDatabase(folder.databasePath).execute(sql)
            let error = #expect(throws: StorageError.self) {
                try SQLiteBackup.create(of: folder.path, in: other.path + "/backup")
            }
            let text = try #require(error).description
            #expect(text.contains("no backup was made"))
            #expect(text.contains("a damaged session can be deleted") == isSession, "\(text)")
        }
    }
}
