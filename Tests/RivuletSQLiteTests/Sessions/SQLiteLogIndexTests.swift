// Checks that an entry is found if the log's index has it, and if the index does not have it yet.

import Glibc
import RivuletSQLite
import RivuletSessions
import RivuletStores
import StorageConformance
import Testing

@Suite struct SQLiteLogIndexTests {
    /// An engine that updates its index after three entries, and a session at version 10.
    private func atVersion10(
        _ folder: TemporaryFolder,
        _ change: (inout SQLiteStorageLimits) -> Void = { _ in }
    ) async throws -> (engine: SQLiteStorageEngine, head: SessionHead) {
        let engine = try folder.engine { limits in
            limits.unindexedEntriesMax = 3
            change(&limits)
        }
        var head = try await engine.fill(upTo: 0)
        for version: UInt64 in 1...10 {
            head = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(version)]).head()
        }
        return (engine, head)
    }

    private func indexed(_ folder: TemporaryFolder) throws -> String? {
        try RawDatabase(folder.databasePath).text(
            "SELECT (SELECT count(*) FROM log_index) || ' to ' || (SELECT seq FROM log_indexed)"
        )
    }

    @Test func `a session has one log, of indexed and unindexed entries`() async throws {
        let folder = try TemporaryFolder()
        let (engine, head) = try await atVersion10(folder)
        defer { engine.close() }
        #expect(try indexed(folder) == "9 to 9")
        let stored = try #require(try await engine.load(TestData.key()))
        #expect(stored.head == head)
        #expect(stored.updated == 10)
        #expect(stored.tail == TestData.entries(1...10))
        #expect(stored.retained == RetainedLog(from: 1, since: 1))
        let page = try await engine.history(TestData.key(), epoch: TestData.epoch, after: 7, limit: 2)
        #expect(page == TestData.entries(8...9))
        let rest = try await engine.history(TestData.key(), epoch: TestData.epoch, after: 8, limit: 9)
        #expect(rest == TestData.entries(9...10))
        #expect(try await engine.sessions(app: "counter", limit: 9).map(\.version) == [10])
        #expect(try await engine.sessions(app: "counter", limit: 9).map(\.updated) == [10])
    }

    @Test func `a restart finds entries that are not in the index, and appends after them`() async throws {
        let folder = try TemporaryFolder()
        let (first, head) = try await atVersion10(folder)
        first.close()
        #expect(try indexed(folder) == "9 to 9")
        let engine = try folder.engine()
        defer { engine.close() }
        _ = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(11)]).head()
        #expect(try await engine.load(TestData.key())?.tail == TestData.entries(1...11))
        #expect(try RawDatabase(folder.databasePath).text("SELECT max(seq) FROM log") == "11")
    }

    @Test func `a compaction deletes entries from the log and from its index`() async throws {
        let folder = try TemporaryFolder()
        let (engine, head) = try await atVersion10(folder)
        defer { engine.close() }
        let raw = try RawDatabase(folder.databasePath)
        let middle = SessionHead(epoch: head.epoch, version: 5, token: head.token)
        _ = try await engine.compact(TestData.key(), at: middle, snapshot: TestData.snapshot(5), keepingFrom: 6)
        #expect(try raw.text("SELECT group_concat(v) FROM log") == "6,7,8,9,10")
        #expect(try raw.text("SELECT group_concat(v) FROM log_index") == "6,7,8,9")
        _ = try await engine.compact(TestData.key(), at: head, snapshot: TestData.snapshot(10), keepingFrom: 11)
        #expect(try raw.text("SELECT count(*) FROM log") == "0")
        #expect(try raw.text("SELECT count(*) FROM log_index") == "0")
        let stored = try #require(try await engine.load(TestData.key()))
        #expect(stored.head == head)
        #expect(stored.retained == RetainedLog(from: 11, since: nil))
        _ = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(11)]).head()
        #expect(try await engine.load(TestData.key())?.tail == [TestData.entry(11)])
    }

    @Test func `a deleted session leaves nothing, and its name can be used again`() async throws {
        let folder = try TemporaryFolder()
        let (engine, _) = try await atVersion10(folder)
        defer { engine.close() }
        #expect(try await engine.delete(TestData.key()))
        try await engine.waitUntilErased()
        let raw = try RawDatabase(folder.databasePath)
        #expect(try raw.text("SELECT count(*) FROM log") == "0")
        #expect(try raw.text("SELECT count(*) FROM log_index") == "0")
        _ = try await engine.fill(upTo: 2)
        #expect(try await engine.load(TestData.key())?.tail == TestData.entries(1...2))
    }

    @Test func `deleted entries are part of the limit of unindexed entries`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.unindexedEntriesMax = 3 }
        defer { engine.close() }
        for index in 0..<3 {
            _ = try await engine.fill("\(index)", upTo: 1)
            #expect(try await engine.delete(TestData.key("\(index)")))
        }
        try await engine.probe()
        #expect(try indexed(folder) == "0 to 3")
    }

    @Test func `an index that is never updated causes no error`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.unindexedEntriesMax = .max }
        defer { engine.close() }
        _ = try await engine.fill(upTo: 2)
        #expect(try await engine.load(TestData.key())?.tail == TestData.entries(1...2))
        #expect(try indexed(folder) == "0 to 0")
    }

    @Test func `a database that is full when the index is due still serves its data, and the index is updated later`()
        async throws
    {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        _ = try await first.fill("many", upTo: 900, byteCount: 0)
        let large = try await first.fill("large", upTo: 1, byteCount: 100_000)
        first.close()
        let raw = try RawDatabase(folder.databasePath)
        let pages = try #require(try raw.text("PRAGMA page_count").flatMap { Int($0) })
        #expect(try raw.text("PRAGMA freelist_count") == "0")
        // The next entry fits on the last page. The index of 900 entries does not.
        let engine = try folder.engine { limits in
            limits.databaseBytesMax = pages * 4_096
            limits.unindexedEntriesMax = 1
        }
        defer { engine.close() }
        _ = try await engine.fill("small", upTo: 1, byteCount: 0)
        try await engine.probe()
        #expect(try indexed(folder) == "0 to 0")
        #expect(try await engine.load(TestData.key("many"))?.head.version == 900)
        #expect(try await engine.load(TestData.key("small"))?.head.version == 1)
        #expect(try await engine.load(TestData.key("large"))?.head == large)
        #expect(try await engine.delete(TestData.key("large")))
        _ = try await engine.fill("other", upTo: 1, byteCount: 0)
        try await engine.probe()
        #expect(try indexed(folder) == "902 to 903")
        #expect(try await engine.load(TestData.key("many"))?.tail.count == 900)
    }

    @Test(arguments: ["-9223372036854775808", "9223372036854775807"])
    func `a damaged end of the index is reported`(row: String) async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        _ = try await first.fill(upTo: 2)
        first.close()
        try RawDatabase(folder.databasePath).execute("UPDATE log_indexed SET seq = \(row)")
        let engine = try folder.engine()
        defer { engine.close() }
        for _ in 1...2 {
            let error = await #expect(throws: StorageError.self) { _ = try await engine.load(TestData.key()) }
            guard case .corrupt(nil, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        await #expect(throws: StorageError.self) { _ = try await engine.fill("two", upTo: 1) }
    }

    /// Appends the twelfth entry, after which an update of the index is due.
    ///
    /// The disk fails as soon as the entry is committed.
    private func appendTwelfth(
        _ head: SessionHead,
        to engine: SQLiteStorageEngine,
        thenFailing fail: @escaping @Sendable () -> Void
    ) async throws -> SessionHead {
        let answers = Answers<AppendOutcome>(expecting: 1)
        let reply = answers.reply(0)
        let next = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(11)]).head()
        engine.append(TestData.key(), at: .after(next), [TestData.entry(12)], keeping: .none) { result in
            fail()
            reply(result)
        }
        return try await answers.all()[0].get().head()
    }

    @Test func `a disk that is full when the index is due loses nothing, and the index is updated later`() async throws
    {
        let folder = try TemporaryFolder()
        let (engine, tenth) = try await atVersion10(folder)
        defer { engine.close() }
        var head = try await appendTwelfth(tenth, to: engine) { folder.failDisk(write: ENOSPC) }
        await #expect(throws: StorageError.self) { try await engine.probe() }
        folder.failDisk()
        #expect(try indexed(folder) == "9 to 9")
        #expect(try await engine.load(TestData.key())?.tail == TestData.entries(1...12))
        for version: UInt64 in 13...15 {
            head = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(version)]).head()
        }
        try await engine.probe()
        #expect(try indexed(folder) == "15 to 15")
        #expect(try await engine.load(TestData.key())?.tail == TestData.entries(1...15))
    }

    @Test func `a disk that fails when the index is due ends all work, and loses nothing`() async throws {
        let folder = try TemporaryFolder()
        let (engine, tenth) = try await atVersion10(folder)
        _ = try await appendTwelfth(tenth, to: engine) { folder.failDisk(sync: EIO) }
        // If the probe's own commit failed, the error would be indeterminate.
        let error = await #expect(throws: StorageError.self) { try await engine.probe() }
        guard case .unavailable(let detail) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.contains("then restart the server"))
        folder.failDisk()
        engine.close()
        let next = try folder.engine()
        defer { next.close() }
        #expect(try await next.load(TestData.key())?.tail == TestData.entries(1...12))
    }
}
