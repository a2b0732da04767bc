// Checks the counters of quotas in a database: their start and end, crashes, a full disk, checks and repairs.

import RivuletBase
import RivuletSQLite
import RivuletSessions
import SeededRandom
import StorageConformance
import Testing

@Suite struct SQLiteQuotaTests {
    private static let unlimited = StorageQuota(sessionsMax: 1_000_000)

    private func engine(
        _ folder: TemporaryFolder,
        _ quotas: [String: StorageQuota] = ["counter": unlimited],
        _ change: (inout SQLiteStorageLimits) -> Void = { _ in }
    ) throws -> SQLiteStorageEngine {
        var limits = SQLiteStorageLimits()
        change(&limits)
        let engine = SQLiteStorageEngine(folder: folder.path, limits: limits)
        try engine.setQuotas(quotas)
        try engine.start()
        return engine
    }

    /// The counters as lines `app owner sessions bytes`.
    private func counters(_ folder: TemporaryFolder) throws -> String {
        let line = "app || ' ' || owner || ' ' || sessions || ' ' || bytes"
        let rows = "SELECT \(line) AS line FROM usage ORDER BY app, owner"
        let lines = "SELECT coalesce(group_concat(line, '; '), '') FROM (\(rows))"
        return try #require(try RawDatabase(folder.databasePath).text(lines))
    }

    @Test(arguments: QuotaConformance.all)
    func `keeps quotas`(rule: QuotaConformance) async throws {
        let folder = try TemporaryFolder()
        let engine = SQLiteStorageEngine(folder: folder.path)
        defer { engine.close() }
        try await rule.check(engine)
        #expect(try SQLiteCheck.run(folder: folder.path) == [])
    }

    @Test func `the first start with a quota counts the stored sessions, and a start without one drops the counters`()
        async throws
    {
        let folder = try TemporaryFolder()
        let first = try engine(folder, [:])
        _ = try await first.append(TestData.key("a"), at: point("ann"), TestData.entries(1...3)).head()
        _ = try await first.append(TestData.key("b"), at: point("ann"), [TestData.entry(1, by: "bob")]).head()
        let head = try await first.append(TestData.key("c"), at: point(nil), TestData.entries(1...2)).head()
        _ = try await first.compact(TestData.key("c"), at: head, snapshot: TestData.snapshot(2), keepingFrom: 3)
        #expect(try counters(folder) == "")
        first.close()
        // An entry has 51 bytes, its caller 3, and the snapshot 40.
        let second = try engine(folder)
        #expect(try counters(folder) == "counter  3 247; counter ann 2 207")
        #expect(try await second.delete(TestData.key("b")))
        #expect(try counters(folder) == "counter  2 193; counter ann 1 153")
        second.close()
        let third = try engine(folder, ["other": Self.unlimited])
        #expect(try counters(folder) == "other  0 0")
        _ = try await third.append(TestData.key("d"), at: point("ann"), [TestData.entry(1)]).head()
        third.close()
        let fourth = try engine(folder, ["counter": StorageQuota(ownerSessionsMax: 2)])
        defer { fourth.close() }
        #expect(try counters(folder) == "counter  3 244; counter ann 2 204")
        await #expect(throws: StorageError.self) {
            _ = try await fourth.create(TestData.key("e"), epoch: "e", time: 1, owner: "ann")
        }
        #expect(try SQLiteCheck.run(folder: folder.path) == [])
    }

    @Test func `the counters match the rows after each crash`() async throws {
        let folder = try TemporaryFolder()
        let running = try engine(folder) { $0.unindexedEntriesMax = 3 }
        defer { running.close() }
        var heads: [String: SessionHead] = [:]
        var random = SeededGenerator(seed: 7)
        for step in 0..<60 {
            let id = ["a", "b", "c", "d"].randomElement(using: &random) ?? "a"
            let key = TestData.key(id)
            switch (heads[id], Int.random(in: 0..<6, using: &random)) {
            case (nil, _):
                let owner = ["ann", "bob", nil].randomElement(using: &random) ?? nil
                heads[id] = try await running.append(key, at: point(owner), [TestData.entry(1)]).head()
            case (.some, 0):
                #expect(try await running.delete(key))
                heads[id] = nil
            case (let head?, 1):
                let snapshot = TestData.snapshot(head.version, byteCount: 10 * step)
                _ = try await running.compact(key, at: head, snapshot: snapshot, keepingFrom: head.version)
            case (let head?, _):
                let entry = TestData.entry(head.version + 1, byteCount: step, by: step % 2 == 0 ? "ann" : nil)
                heads[id] = try await running.append(key, at: .after(head), [entry]).head()
            }
            // The files as a killed process leaves them.
            let killed = try folder.copyOfFiles()
            let next = try engine(killed)
            #expect(try await next.sessions(app: "counter", limit: 9).count == heads.count)
            next.close()
            #expect(try SQLiteCheck.run(folder: killed.path) == [], "after step \(step)")
        }
    }

    @Test func `a full disk counts nothing, and a deletion on it is counted`() async throws {
        let folder = try TemporaryFolder()
        let running = try engine(folder) { $0.databaseBytesMax = 400 * 4_096 }
        defer { running.close() }
        let large = TestData.entry(1, byteCount: 900_000)
        _ = try await running.append(TestData.key("a"), at: point("ann"), [large]).head()
        let before = try counters(folder)
        await #expect(throws: StorageError.self) {
            _ = try await running.append(TestData.key("b"), at: point("ann"), [large])
        }
        #expect(try counters(folder) == before)
        #expect(try await running.delete(TestData.key("a")))
        #expect(try counters(folder) == "counter  0 0")
        #expect(try SQLiteCheck.run(folder: folder.path) == [])
    }

    @Test(arguments: [
        "UPDATE usage SET bytes = bytes + 1 WHERE owner = 'ann'", "UPDATE usage SET sessions = 9 WHERE owner = ''",
        "UPDATE session SET bytes = 1 WHERE id = 'a'", "DELETE FROM usage WHERE owner = 'ann'",
        "INSERT INTO usage(app, owner, sessions, bytes) VALUES ('counter', 'eve', 1, 1)",
    ])
    func `a check names wrong counters, and a repair makes them anew`(damage: String) async throws {
        let folder = try TemporaryFolder()
        let first = try engine(folder)
        _ = try await first.append(TestData.key("a"), at: point("ann"), TestData.entries(1...3)).head()
        _ = try await first.append(TestData.key("b"), at: point(nil), TestData.entries(1...2)).head()
        first.close()
        let right = try counters(folder)
        try RawDatabase(folder.databasePath).execute(damage)
        #expect(
            try SQLiteCheck.run(folder: folder.path) == [
                "rivulet.db: the counters of the app counter do not match its sessions"
            ]
        )
        let outcome = try SQLiteRepair.run(folder: folder.path, time: 1_763_912_345_000)
        #expect(outcome.remaining == [])
        #expect(try SQLiteCheck.run(folder: folder.path) == [])
        #expect(try counters(folder) == right)
        let next = try engine(folder)
        defer { next.close() }
        #expect(try await next.sessions(app: "counter", owner: "ann", limit: 9).map(\.id) == ["a"])
    }

    private func point(_ owner: String?) -> AppendPoint {
        .creating(epoch: TestData.epoch, time: 1, owner: owner)
    }
}
