// Part of Rivulet. See README.md for the architecture.
// Checks that an entry is found whether the log's index knows it or not.

import Glibc
import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct SQLiteLogIndexTests {
    /// An engine that brings its index up to date after three entries, and a session at version 10.
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

    @Test func `a session is one log, in the index and beside it`() async throws {
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

    @Test func `a restart finds what the index does not know, and goes on behind it`() async throws {
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

    @Test func `what a compaction drops is gone from the log and from its index`() async throws {
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

    @Test func `a deleted session leaves nothing, and its name begins anew`() async throws {
        let folder = try TemporaryFolder()
        let (engine, _) = try await atVersion10(folder)
        defer { engine.close() }
        #expect(try await engine.delete(TestData.key()))
        let raw = try RawDatabase(folder.databasePath)
        #expect(try raw.text("SELECT count(*) FROM log") == "0")
        #expect(try raw.text("SELECT count(*) FROM log_index") == "0")
        _ = try await engine.fill(upTo: 2)
        #expect(try await engine.load(TestData.key())?.tail == TestData.entries(1...2))
    }

    @Test(.timeLimit(.minutes(1)))
    func `a quiet engine brings its index up to date`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.idleMilliseconds = 1 }
        defer { engine.close() }
        _ = try await engine.fill(upTo: 2)
        while try indexed(folder) != "2 to 2" {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(try await engine.load(TestData.key())?.tail == TestData.entries(1...2))
    }

    /// Appends the twelfth entry, after which the index is due, to a disk that fails as soon as that is committed.
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

    @Test func `a disk that is full when the index is due harms nothing, and the index follows`() async throws {
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
        await #expect(throws: StorageError.self) { try await engine.probe() }
        folder.failDisk()
        await #expect(throws: StorageError.self) { try await engine.probe() }
        engine.close()
        let next = try folder.engine()
        defer { next.close() }
        #expect(try await next.load(TestData.key())?.tail == TestData.entries(1...12))
    }
}
