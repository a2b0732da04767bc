// Checks that damage is found and named, and that it affects only the damaged session.

import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct SQLiteStorageDamageTests {
    /// The damage to the bytes of session "one", and the words of the error.
    static let damages: [(sql: String, words: String)] = [
        ("UPDATE log SET event = zeroblob(11) WHERE sid = 1 AND v = 3", "the log entry of version 3 fails"),
        (
            "UPDATE log SET changes = CAST(x'7F' || substr(changes, 2) AS BLOB) WHERE sid = 1 AND v = 4",
            "version 4 fails"
        ),
        ("UPDATE log SET time = time + 1 WHERE sid = 1 AND v = 4", "version 4 fails its checksum"),
        ("UPDATE log SET cmd = 'x' WHERE sid = 1 AND v = 4", "version 4 fails its checksum"),
        ("UPDATE log SET crc = crc + 1 WHERE sid = 1 AND v = 4", "version 4 fails its checksum"),
        ("DELETE FROM log WHERE sid = 1 AND v = 4", "entries"),
        ("DELETE FROM log WHERE sid = 1 AND v = 3", "entries"),
        ("DELETE FROM log WHERE sid = 1 AND v = 5", "entries"),
        ("UPDATE log SET v = 3 WHERE sid = 1 AND v = 5", "entries"),
        ("UPDATE log SET sid = 2 WHERE sid = 1 AND v = 4", "entries"),
        ("DELETE FROM snapshot WHERE sid = 1", "entries"),
        (
            "UPDATE snapshot SET body = CAST(x'41' || substr(body, 2) AS BLOB) WHERE sid = 1",
            "the snapshot of version 2 fails"
        ),
        ("UPDATE snapshot SET v = 3 WHERE sid = 1", "the snapshot of version 3 fails its checksum"),
        ("UPDATE snapshot SET schema = 2 WHERE sid = 1", "the snapshot of version 2 fails its checksum"),
        ("UPDATE snapshot SET enc = 9 WHERE sid = 1", "the snapshot of version 2 fails its checksum"),
        ("UPDATE snapshot SET bytes = 1 << 40 WHERE sid = 1", "the snapshot of version 2 fails its checksum"),
        ("UPDATE session SET epoch = 'zzzzzzzz' WHERE sid = 1", "session row 1 fails its checksum"),
        ("UPDATE session SET created = 2 WHERE sid = 1", "session row 1 fails its checksum"),
    ]

    /// Two sessions at version 5, with a snapshot of version 2 and the log from version 3 on.
    private func damaged(
        by sql: String,
        unindexedEntriesMax: Int = 4_096
    ) async throws -> (TemporaryFolder, SQLiteStorageEngine, StoredSession?) {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.unindexedEntriesMax = unindexedEntriesMax }
        for id in ["one", "two"] {
            let head = try await engine.fill(id, upTo: 5)
            let at = SessionHead(epoch: head.epoch, version: 2, token: head.token)
            let snapshot = TestData.snapshot(2, byteCount: id == "one" ? 9_000 : 10)
            _ = try await engine.compact(TestData.key(id), at: at, snapshot: snapshot, keepingFrom: 3)
        }
        // The index is updated after an answer, and before the next commit.
        try await engine.probe()
        let healthy = try await engine.load(TestData.key("two"))
        try RawDatabase(folder.databasePath).execute(sql)
        return (folder, engine, healthy)
    }

    @Test(arguments: damages, [1, 4_096])
    func `a damaged session is reported by name, and the others are served`(
        damage: (sql: String, words: String),
        unindexedEntriesMax: Int
    ) async throws {
        let (folder, engine, healthy) = try await damaged(by: damage.sql, unindexedEntriesMax: unindexedEntriesMax)
        defer { engine.close() }
        let error = await #expect(throws: StorageError.self) { _ = try await engine.load(TestData.key()) }
        guard case .corrupt(TestData.key(), let detail) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.contains(damage.words))
        #expect(detail.contains(folder.databasePath))
        #expect(try await engine.load(TestData.key("two")) == healthy)
        #expect(try await engine.sessions(app: "counter", limit: 9).count == 2)
    }

    @Test func `reads of the log and of versions report a damaged entry, and serve earlier ones`() async throws {
        let (_, engine, _) = try await damaged(by: "UPDATE log SET event = x'00' WHERE sid = 1 AND v = 4")
        defer { engine.close() }
        let epoch = TestData.epoch
        let page = try await engine.history(TestData.key(), epoch: epoch, after: 2, limit: 1)
        #expect(page == [TestData.entry(3)])
        await #expect(throws: StorageError.self) {
            _ = try await engine.history(TestData.key(), epoch: epoch, after: 2, limit: 2)
        }
        #expect(try await engine.past(TestData.key(), epoch: epoch, at: 3)?.entries == [TestData.entry(3)])
        await #expect(throws: StorageError.self) { _ = try await engine.past(TestData.key(), epoch: epoch, at: 4) }
    }

    @Test(arguments: [
        "DELETE FROM log_index WHERE sid = 1 AND v = 4", "UPDATE log_index SET seq = 9 WHERE sid = 1 AND v = 4",
    ])
    func `an index that has lost an entry, or points to a wrong one, is reported`(sql: String) async throws {
        let (_, engine, healthy) = try await damaged(by: sql, unindexedEntriesMax: 1)
        defer { engine.close() }
        let error = await #expect(throws: StorageError.self) { _ = try await engine.load(TestData.key()) }
        guard case .corrupt(TestData.key(), _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await engine.load(TestData.key("two")) == healthy)
    }

    @Test(arguments: [1, 4_096])
    func `a gap in the log is reported and never skipped`(unindexedEntriesMax: Int) async throws {
        let sql = "DELETE FROM log WHERE sid = 1 AND v = 4"
        let (_, engine, _) = try await damaged(by: sql, unindexedEntriesMax: unindexedEntriesMax)
        defer { engine.close() }
        await #expect(throws: StorageError.self) {
            _ = try await engine.history(TestData.key(), epoch: TestData.epoch, after: 2, limit: 9)
        }
    }

    @Test func `a write to a damaged session fails, and the other writes of its group do not`() async throws {
        let (folder, engine, _) = try await damaged(by: "UPDATE session SET created = 2 WHERE sid = 1")
        // The folder is removed when its object is released.
        defer { withExtendedLifetime(folder) { engine.close() } }
        let gate = Gate()
        await gate.holdWriter(of: engine)
        let answers = Answers<AppendOutcome>(expecting: 3)
        let head = SessionHead(epoch: TestData.epoch, version: 5, token: 1)
        engine.append(TestData.key("a"), at: TestData.creating, [TestData.entry(1)], reply: answers.reply(0))
        engine.append(TestData.key(), at: .after(head), [TestData.entry(6)], reply: answers.reply(1))
        engine.append(TestData.key("b"), at: TestData.creating, [TestData.entry(1)], reply: answers.reply(2))
        gate.open()
        let results = await answers.all()
        _ = try results[0].get().head()
        guard case .failure(.corrupt(TestData.key(), _)) = results[1] else {
            Issue.record("\(results[1])")
            return
        }
        _ = try results[2].get().head()
        #expect(try await engine.load(TestData.key("a"))?.head.version == 1)
        #expect(try await engine.load(TestData.key("b"))?.head.version == 1)
    }

    @Test(arguments: ["UPDATE log SET event = x'00' WHERE sid = 1", "UPDATE session SET created = 2 WHERE sid = 1"])
    func `a damaged session can still be deleted`(sql: String) async throws {
        let (folder, engine, _) = try await damaged(by: sql)
        defer { withExtendedLifetime(folder) { engine.close() } }
        #expect(try await engine.delete(TestData.key()))
        #expect(try await engine.load(TestData.key()) == nil)
    }
}
