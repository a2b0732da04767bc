// Checks that the text of deleted data disappears from every file of the data folder.

import Foundation
import ItemStorageConformance
import RivuletSQLite
import RivuletSessions
import RivuletStores
import StorageConformance
import Testing

@Suite struct SQLiteErasingTests {
    private static let canary = "canary-7f3a9c"

    /// Bytes with the canary at their start, in their middle and at their end.
    private func text(_ byteCount: Int) -> [UInt8] {
        let canary = Array(Self.canary.utf8)
        let filler = [UInt8](repeating: UInt8(ascii: "x"), count: max(0, byteCount / 2 - canary.count))
        return canary + filler + canary + filler + canary
    }

    private func entry(_ version: UInt64, byteCount: Int) -> LogEntry {
        let id = "command-\(Self.canary)"
        return LogEntry(
            version: version,
            time: 1,
            commandID: id,
            event: text(byteCount),
            changes: text(byteCount)
        )
    }

    /// Creates a session with the canary in every part: its name, its log, a snapshot and an idempotency record.
    private func fill(
        _ engine: SQLiteStorageEngine,
        _ id: String = Self.canary,
        entries: Int = 8,
        byteCount: Int = 300
    ) async throws -> SessionHead {
        let key = TestData.key(id)
        let answer = IdempotencyRecord(id: "key-\(Self.canary)", time: 1, fingerprint: [1], body: text(byteCount))
        var head = try await engine.append(
            key,
            at: TestData.creating,
            [entry(1, byteCount: byteCount)],
            keeping: IdempotencyRecords([answer], droppingBefore: .min)
        ).head()
        for version in 2...UInt64(max(2, entries)) {
            head = try await engine.append(key, at: .after(head), [entry(version, byteCount: byteCount)]).head()
        }
        // The engine keeps the older snapshot beside one of a newer schema.
        for schema: UInt32 in 1...2 {
            let snapshot = StateSnapshot(version: head.version, schema: schema, state: text(byteCount))
            _ = try await engine.compact(key, at: head, snapshot: snapshot, keepingFrom: 1)
        }
        return head
    }

    // MARK: - Text

    @Test(arguments: [1, 4_096], [300, 9_000])
    func `the text of a deleted session is in no file once it is erased`(
        unindexedEntriesMax: Int,
        byteCount: Int
    ) async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { limits in
            limits.unindexedEntriesMax = unindexedEntriesMax
            limits.idleMilliseconds = 10
        }
        defer { engine.close() }
        _ = try await engine.fill("kept", upTo: 30)
        _ = try await fill(engine, byteCount: byteCount)
        #expect(try !folder.files(with: Self.canary).isEmpty)
        #expect(try await engine.delete(TestData.key(Self.canary)))
        try await engine.waitUntilErased()
        try await folder.waitUntilGone(Self.canary, by: engine)
        #expect(try await engine.load(TestData.key("kept"))?.tail.count == 30)
    }

    @Test func `close() waits until deleted data is erased`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.eraseStepBytesMax = 60_000 }
        _ = try await fill(engine, entries: 20, byteCount: 3_000)
        #expect(try await engine.delete(TestData.key(Self.canary)))
        engine.close()
        #expect(engine.sessionsToEraseCount == 0)
        #expect(try folder.files(with: Self.canary) == [])
        let raw = try RawDatabase(folder.databasePath)
        for table in ["log", "log_index", "answer", "snapshot", "older_snapshot", "session", "erasing"] {
            #expect(try raw.text("SELECT count(*) FROM \(table)") == "0")
        }
        #expect(try raw.text("PRAGMA integrity_check") == "ok")
    }

    @Test func `a row that is larger than a step is erased in a separate step`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.eraseStepBytesMax = 50_000 }
        _ = try await fill(engine, entries: 3, byteCount: 400_000)
        #expect(try await engine.delete(TestData.key(Self.canary)))
        engine.close()
        #expect(try folder.files(with: Self.canary) == [])
        #expect(try RawDatabase(folder.databasePath).text("PRAGMA integrity_check") == "ok")
    }

    @Test func `the text of removed or replaced items is in no file after a quiet moment`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.idleMilliseconds = 10 }
        defer { engine.close() }
        let notes = engine.collection("notes")
        try await notes.commit([.put(key: "a", document: text(6_000)), .put(key: "b", document: text(10))])
        try await notes.commit([.put(key: Self.canary, document: [1]), .put(key: "d", document: text(20_000))])
        try await notes.commit([.put(key: "a", document: [1]), .remove(key: "b"), .remove(key: Self.canary)])
        try await engine.collection("other").commit([.put(key: "x", document: text(50))])
        try await engine.collection("other").commit([.removeAll])
        try await notes.commit([.put(key: "d", document: [2])])
        try await folder.waitUntilGone(Self.canary, by: engine)
        #expect(try await notes.contents().items.map(\.key) == ["a", "d"])
    }

    @Test func `the text of dropped entries and of dropped answers is in no file after a quiet moment`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.idleMilliseconds = 10 }
        defer { engine.close() }
        let head = try await fill(engine, "one", entries: 12, byteCount: 2_000)
        let entry = LogEntry(version: head.version + 1, time: 9, commandID: nil, event: [1], changes: [2])
        let newest = IdempotencyRecord(id: "new", time: 9, fingerprint: [1], body: [1])
        let last = try await engine.append(
            TestData.key(),
            at: .after(head),
            [entry],
            keeping: IdempotencyRecords([newest], droppingBefore: 5)
        ).head()
        let snapshot = TestData.snapshot(last.version)
        _ = try await engine.compact(
            TestData.key(),
            at: last,
            snapshot: snapshot,
            keepingFrom: last.version + 1,
            keepingSince: 99
        )
        let again = LogEntry(version: last.version + 1, time: 9, commandID: nil, event: [1], changes: [2])
        let next = try await engine.append(TestData.key(), at: .after(last), [again]).head()
        _ = try await engine.compact(
            TestData.key(),
            at: next,
            snapshot: TestData.snapshot(next.version),
            keepingFrom: next.version + 1,
            keepingSince: 99
        )
        try await folder.waitUntilGone(Self.canary, by: engine)
    }

    @Test func `removed text is erased during further writes, too`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.removedTextMillisecondsMax = 0 }
        defer { engine.close() }
        let notes = engine.collection("notes")
        try await notes.commit([.put(key: "a", document: text(6_000))])
        try await notes.commit([.put(key: "a", document: [1])])
        // The answer comes before the checkpoint, the next write after it.
        try await engine.probe()
        #expect(try folder.files(with: Self.canary) == [])
    }

    // MARK: - Readers

    @Test func `no reader sees a deleted session that is not erased yet, and its name can be used again`()
        async throws
    {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.erasePauseMilliseconds = 3_600_000 }
        defer { engine.close() }
        let old = try await fill(engine, "first")
        #expect(try await engine.delete(TestData.key("first")))
        try await engine.waitUntilErased()
        let deleted = try await fill(engine, "one")
        let answers = IdempotencyUsage(count: 0, byteCount: 0, oldest: nil)
        #expect(try await engine.delete(TestData.key()))
        #expect(try await engine.delete(TestData.key()) == false)
        #expect(engine.sessionsToEraseCount == 1)
        #expect(try await engine.load(TestData.key()) == nil)
        #expect(try await engine.sessions(app: "counter", limit: 9) == [])
        let epoch = TestData.epoch
        #expect(try await engine.history(TestData.key(), epoch: epoch, after: 0, limit: 9) == nil)
        #expect(try await engine.past(TestData.key(), epoch: epoch, at: 1) == nil)
        let inspection = try SQLiteStorageInspection(folder: folder.path)
        #expect(try inspection.apps() == [])
        #expect(try inspection.load(TestData.key()) == nil)
        let stale = [TestData.entry(deleted.version + 1)]
        #expect(try await engine.append(TestData.key(), at: .after(deleted), stale) == .conflict)
        let head = try await engine.fill(upTo: 2)
        #expect(head.token != deleted.token && deleted.token != old.token)
        #expect(try await engine.load(TestData.key())?.tail == TestData.entries(1...2))
        #expect(try await engine.idempotencyRecords(TestData.key(), epoch: epoch, since: 0) == answers)
        engine.close()
        let next = try folder.engine()
        defer { next.close() }
        #expect(try await next.load(TestData.key())?.tail == TestData.entries(1...2))
        #expect(try await next.sessions(app: "counter", limit: 9).map(\.id) == ["one"])
    }

    @Test func `a mark for an existing session does not erase its rows`() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        _ = try await first.fill(upTo: 3)
        first.close()
        try RawDatabase(folder.databasePath).execute("INSERT INTO erasing(sid) VALUES (1), (77)")
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(engine.sessionsToEraseCount == 2)
        try await engine.waitUntilErased()
        #expect(try await engine.load(TestData.key())?.tail == TestData.entries(1...3))
    }

    // MARK: - Steps

    @Test func `erasing continues at the next start`() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine { $0.eraseStepBytesMax = 30_000 }
        _ = try await fill(first, entries: 20, byteCount: 1_500)
        #expect(try await first.delete(TestData.key(Self.canary)))
        // The copy has the files between two steps, as a process that ends at once leaves them.
        let copy = try folder.copyOfFiles()
        #expect(try !copy.files(with: Self.canary).isEmpty)
        first.close()
        let next = try copy.engine { $0.idleMilliseconds = 10 }
        defer { next.close() }
        #expect(try await next.load(TestData.key(Self.canary)) == nil)
        try await next.waitUntilErased()
        try await copy.waitUntilGone(Self.canary, by: next)
    }

    @Test func `other commits are made between the steps of erasing`() async throws {
        let folder = try TemporaryFolder()
        try await folder.fillByTurns()
        // The pause is longer than any test. One step is made before it, and the others when the engine closes.
        let next = try folder.engine { limits in
            limits.eraseStepBytesMax = 80_000
            limits.erasePauseMilliseconds = 3_600_000
        }
        defer { next.close() }
        #expect(try await next.delete(TestData.key("deleted")))
        try await next.probe()
        let rest = try folder.logRowCount()
        #expect(rest > 60 && rest < 120)
        var kept = try #require(try await next.load(TestData.key("kept"))).head
        for version: UInt64 in 61...63 {
            let entries = [TestData.entry(version)]
            kept = try await next.append(TestData.key("kept"), at: .after(kept), entries).head()
            #expect(next.sessionsToEraseCount == 1)
        }
        #expect(try folder.logRowCount() == rest + 3)
        next.close()
        #expect(next.sessionsToEraseCount == 0)
        #expect(try folder.logRowCount() == 63)
    }

    // MARK: - Readers of other processes

    @Test func `a commit does not wait for a reader, however large the log is`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { limits in
            limits.walPagesPerCheckpoint = 1
            limits.walPagesMax = 1
            limits.lockWaitMilliseconds = 600_000
        }
        defer { engine.close() }
        var head = try await engine.fill(upTo: 1)
        let reader = try RawDatabase(folder.databasePath)
        try reader.execute("BEGIN")
        _ = try reader.text("SELECT count(*) FROM log")
        let deadline = TestData.deadline
        for version: UInt64 in 2...20 {
            head = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(version)]).head()
        }
        #expect(ContinuousClock.now < deadline)
        try reader.execute("COMMIT")
        #expect(try await engine.load(TestData.key())?.head.version == 20)
    }
}
