// Checks the number of bytes that a step of erasing writes, and the log lines about damage and older databases.

import Foundation
import RivuletSQLite
import RivuletSessions
import StorageConformance
import Synchronization
import Testing

@Suite struct SQLiteErasingStepsTests {
    private static let walFrameBytes = 4_096 + 24

    @Test func `a step writes at most its limit to the log`() async throws {
        let folder = try TemporaryFolder()
        try await folder.fillByTurns()
        let stepBytesMax = 80_000
        func makeEngine() throws -> SQLiteStorageEngine {
            try folder.engine { limits in
                limits.eraseStepBytesMax = stepBytesMax
                limits.lockWaitMilliseconds = 10
            }
        }
        // A reader holds the end of the log, so that an engine writes one step and leaves the rest to the next start.
        let reader = try RawDatabase(folder.databasePath)
        try reader.execute("BEGIN")
        _ = try reader.text("SELECT count(*) FROM log")
        let first = try makeEngine()
        #expect(try await first.delete(TestData.key("deleted")))
        first.close()
        var steps: [Int] = []
        var pendingCount = first.sessionsToEraseCount
        while pendingCount > 0, steps.count < 100 {
            let before = try #require(folder.byteCount(of: "rivulet.db-wal"))
            let engine = try makeEngine()
            engine.close()
            pendingCount = engine.sessionsToEraseCount
            steps.append(try #require(folder.byteCount(of: "rivulet.db-wal")) - before)
        }
        try reader.execute("COMMIT")
        #expect(pendingCount == 0 && steps.count > 2)
        #expect(steps.allSatisfy { $0 <= stepBytesMax }, "\(steps)")
        #expect(steps.dropLast().allSatisfy { $0 > stepBytesMax / 4 }, "\(steps)")
        #expect(steps.allSatisfy { $0 % Self.walFrameBytes == 0 }, "whole pages")
    }

    // MARK: - Damage

    @Test func `a session whose pages are damaged is reported, and the others are erased`() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine { $0.unindexedEntriesMax = 1 }
        _ = try await first.fill("canary-damaged", upTo: 400)
        try await first.probe()
        _ = try await first.fill("other", upTo: 3)
        first.close()
        try folder.overwritePage(ofTable: "log")
        let engine = SQLiteStorageEngine(folder: folder.path)
        let reports = Reports()
        engine.onErasingTrouble { reports.add($0) }
        try engine.start()
        #expect(try await engine.delete(TestData.key("canary-damaged")))
        #expect(try await engine.delete(TestData.key("other")))
        engine.close()
        #expect(engine.sessionsToEraseCount == 1)
        #expect(reports.all.count == 1)
        let report = try #require(reports.all.first)
        #expect(report.hasPrefix("cannot erase the deleted session with the number 1, whose text is still in "))
        #expect(report.contains("the next start tries again"))
        #expect(!report.contains("canary") && !report.contains("increment"), "no id, and no text of an event")
    }

    @Test func `unreadable marks are reported once, and are left to the next start`() async throws {
        let folder = try TemporaryFolder()
        try await folder.fillByTurns()
        var limits = SQLiteStorageLimits()
        (limits.eraseStepBytesMax, limits.erasePauseMilliseconds, limits.idleMilliseconds) = (20_000, 1, 1)
        limits.lockWaitMilliseconds = 1_000
        let engine = SQLiteStorageEngine(folder: folder.path, limits: limits)
        let reports = Reports()
        engine.onErasingTrouble { reports.add($0) }
        try engine.start()
        defer { engine.close() }
        // A reader stops the erasing after its first step.
        let reader = try RawDatabase(folder.databasePath)
        try reader.execute("BEGIN")
        _ = try reader.text("SELECT count(*) FROM log")
        #expect(try await engine.delete(TestData.key("deleted")))
        try await engine.probe()
        try RawDatabase(folder.databasePath).execute("DROP TABLE erasing")
        try reader.execute("COMMIT")
        let deadline = TestData.deadline
        while reports.all.isEmpty, ContinuousClock.now < deadline { try await engine.probe() }
        for _ in 1...50 { try await engine.probe() }
        #expect(engine.sessionsToEraseCount == 1)
        #expect(reports.all.count == 1)
        #expect(reports.all.first?.hasPrefix("cannot erase deleted sessions, whose text is still in ") == true)
        #expect(try await engine.load(TestData.key("kept"))?.tail.count == 60)
    }

    @Test func `a step that fails elsewhere is repeated, and a skipped session is not reported again`()
        async throws
    {
        let folder = try TemporaryFolder()
        let first = try folder.engine { $0.unindexedEntriesMax = 1 }
        _ = try await first.fill("damaged", upTo: 400)
        try await first.probe()
        first.close()
        try await folder.fillByTurns()
        try folder.overwritePage(ofTable: "log")
        var limits = SQLiteStorageLimits()
        (limits.eraseStepBytesMax, limits.erasePauseMilliseconds, limits.idleMilliseconds) = (20_000, 1, 1)
        limits.lockWaitMilliseconds = 1_000
        let engine = SQLiteStorageEngine(folder: folder.path, limits: limits)
        let (reports, path) = (Reports(), folder.databasePath)
        engine.onErasingTrouble { report in
            reports.add(report)
            // This runs on the writing thread, so that the very next step cannot read the log.
            guard reports.all.count == 1 else { return }
            do {
                try RawDatabase(path).execute("ALTER TABLE log_indexed RENAME TO away")
            } catch {
                Issue.record(error)
            }
        }
        try engine.start()
        defer { engine.close() }
        // A reader stops the erasing after its first step.
        let reader = try RawDatabase(path)
        try reader.execute("BEGIN")
        _ = try reader.text("SELECT count(*) FROM session")
        #expect(try await engine.delete(TestData.key("deleted")))
        #expect(try await engine.delete(TestData.key("damaged")))
        try await engine.probe()
        try reader.execute("COMMIT")
        try await engine.probe(until: { reports.all.count == 2 })
        for _ in 1...50 { try await engine.probe() }
        #expect(reports.all.count == 2)
        #expect(reports.all.first?.hasPrefix("cannot erase the deleted session with the number 1, ") == true)
        #expect(reports.all.last?.hasPrefix("cannot erase deleted sessions, whose text is still in ") == true)
        #expect(reports.all.last?.contains("it is tried again") == true)
        try RawDatabase(path).execute("ALTER TABLE away RENAME TO log_indexed")
        try await engine.probe(until: { engine.sessionsToEraseCount == 1 })
        #expect(engine.sessionsToEraseCount == 1)
        #expect(reports.all.count == 2)
    }

    // MARK: - Older databases

    @Test func `an older database is reported, because deleted text may remain`() throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        #expect(first.startNotices == [])
        first.close()
        try RawDatabase(folder.databasePath).goBackToLayout5()
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(engine.startNotices.count == 1)
        #expect(engine.startNotices.first?.contains("run \"rivulet vacuum --data \(folder.path)\" once") == true)
    }

    @Test func `older databases of values, of states and with other file names are named at the start`() throws {
        let folder = try TemporaryFolder()
        for path in ["/values", "/states", "/new"] {
            let engine = SQLiteStorageEngine(folder: folder.path + path)
            try engine.start()
            engine.close()
        }
        try #require(SQLiteStorageEngine(directory: folder.path, databaseFilename: "notes")).close()
        let older = ["notes.sqlite3", "states/rivulet.db", "values/rivulet.db"]
        for path in older { try RawDatabase(folder.path + "/" + path).goBackToLayout5() }
        let engine = try folder.engine()
        let notices = engine.startNotices.filter { $0.contains("rivulet vacuum --data \(folder.path)") }
        #expect(notices.count == older.count)
        for (notice, path) in zip(notices, older) {
            #expect(notice.hasPrefix("the database \(folder.path)/\(path) was"))
        }
        engine.close()
        _ = try SQLiteVacuum.run(folder: folder.path)
        let next = try folder.engine()
        defer { next.close() }
        #expect(next.startNotices.filter { $0.contains("vacuum") } == [])
    }
}

extension SQLiteStorageEngine {
    /// Probes the writing thread until the condition holds, or until the deadline of a test.
    fileprivate func probe(until holds: () -> Bool) async throws {
        let deadline = TestData.deadline
        while !holds(), ContinuousClock.now < deadline { try await probe() }
    }
}

extension TemporaryFolder {
    /// Stores rows of the sessions "kept" and "deleted" alternately, so that each deleted row changes a separate page.
    func fillByTurns() async throws {
        let engine = try engine { $0.unindexedEntriesMax = 30 }
        defer { engine.close() }
        var kept = try await engine.fill("kept", upTo: 0)
        var deleted = try await engine.fill("deleted", upTo: 0)
        for version: UInt64 in 1...60 {
            let small = [TestData.entry(version, byteCount: 3_000)]
            kept = try await engine.append(TestData.key("kept"), at: .after(kept), small).head()
            deleted = try await engine.append(TestData.key("deleted"), at: .after(deleted), small).head()
        }
    }
}

/// Lines that an engine has reported.
private final class Reports: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
