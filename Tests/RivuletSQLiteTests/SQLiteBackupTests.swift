// Part of Rivulet. See README.md for the architecture.
// Checks backups that are made beside an engine, and what is put back.

import Foundation
import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct SQLiteBackupTests {
    @Test func `a backup beside an engine has what is stored, and no text of a deleted session`() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        // The first step comes at once; the session is larger than that.
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

    @Test func `the databases of subfolders are in it, and vacuum knows them`() async throws {
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

    @Test func `a file that an interrupted vacuum has left is removed at the start`() throws {
        let folder = try TemporaryFolder()
        try Data("text".utf8).write(to: URL(fileURLWithPath: folder.path + "/rivulet.db.vacuum"))
        try folder.engine().close()
        #expect(folder.byteCount(of: "rivulet.db.vacuum") == nil)
    }
}
