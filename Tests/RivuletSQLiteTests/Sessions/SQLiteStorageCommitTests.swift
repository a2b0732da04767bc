// Checks that a commit is on disk before its answer, and that requests share commits.

import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct SQLiteStorageCommitTests {
    @Test func `every answered commit was synced before`() async throws {
        let folder = try TemporaryFolder()
        folder.failDisk()
        let engine = try folder.engine()
        defer { engine.close() }
        var head = try await engine.fill(upTo: 0)
        for version: UInt64 in 1...20 {
            let before = folder.syncs
            head = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(version)]).head()
            #expect(folder.syncs == before + 1)
        }
    }

    @Test func `a conflict costs no sync`() async throws {
        let folder = try TemporaryFolder()
        folder.failDisk()
        let engine = try folder.engine()
        defer { engine.close() }
        let head = try await engine.fill(upTo: 1)
        _ = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(2)])
        let before = folder.syncs
        #expect(try await engine.append(TestData.key(), at: .after(head), [TestData.entry(2)]) == .conflict)
        #expect(folder.syncs == before)
    }

    @Test func `writes that wait share one sync`() async throws {
        let folder = try TemporaryFolder()
        folder.failDisk()
        let engine = try folder.engine()
        defer { engine.close() }
        let gate = Gate()
        await gate.holdWriter(of: engine)
        let before = folder.syncs
        let answers = Answers<AppendOutcome>(expecting: 200)
        for index in 0..<200 {
            let reply = answers.reply(index)
            engine.append(TestData.key("\(index)"), at: TestData.creating, [TestData.entry(1)], reply: reply)
        }
        gate.open()
        for answer in await answers.all() { _ = try answer.get().head() }
        #expect(folder.syncs == before + 1)
    }

    @Test func `a group of writes has a limit of writes and of bytes`() async throws {
        for change in [
            { (limits: inout SQLiteStorageLimits) in limits.batchWritesMax = 10 },
            { (limits: inout SQLiteStorageLimits) in limits.batchBytesMax = 10 * TestData.entry(1).byteCount },
        ] {
            let folder = try TemporaryFolder()
            folder.failDisk()
            let engine = try folder.engine(change)
            defer { engine.close() }
            let gate = Gate()
            await gate.holdWriter(of: engine)
            let before = folder.syncs
            let answers = Answers<AppendOutcome>(expecting: 35)
            for index in 0..<35 {
                let reply = answers.reply(index)
                engine.append(TestData.key("\(index)"), at: TestData.creating, [TestData.entry(1)], reply: reply)
            }
            gate.open()
            for answer in await answers.all() { _ = try answer.get().head() }
            #expect(folder.syncs == before + 4)
        }
    }

    @Test func `one conflict in a group fails only itself`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        let head = try await engine.fill(upTo: 1)
        let gate = Gate()
        await gate.holdWriter(of: engine)
        let answers = Answers<AppendOutcome>(expecting: 4)
        engine.append(TestData.key("two"), at: TestData.creating, [TestData.entry(1)], reply: answers.reply(0))
        engine.append(TestData.key(), at: .after(head), [TestData.entry(2)], reply: answers.reply(1))
        engine.append(TestData.key(), at: .after(head), [TestData.entry(2)], reply: answers.reply(2))
        engine.append(TestData.key("two"), at: TestData.creating, [TestData.entry(1)], reply: answers.reply(3))
        gate.open()
        let outcomes = try await answers.all().map { try $0.get() }
        #expect(outcomes.map { $0 == .conflict } == [false, false, true, true])
        #expect(try await engine.load(TestData.key())?.head.version == 2)
    }

    @Test func `a write beyond the limits of the queue is refused unwritten`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.writesWaitingMax = 3 }
        defer { engine.close() }
        let gate = Gate()
        await gate.holdWriter(of: engine)
        let answers = Answers<AppendOutcome>(expecting: 3)
        for index in 0..<3 {
            let reply = answers.reply(index)
            engine.append(TestData.key("\(index)"), at: TestData.creating, [TestData.entry(1)], reply: reply)
        }
        gate.open()
        let results = await answers.all()
        _ = try results[0].get().head()
        _ = try results[1].get().head()
        guard case .failure(.unavailable(let detail)) = results[2] else {
            Issue.record("not refused")
            return
        }
        #expect(detail.contains("3 requests"))
        #expect(try await engine.load(TestData.key("2")) == nil)
        _ = try await engine.fill("2", upTo: 1)
    }

    @Test func `a write larger than the queue is accepted if nothing waits, and refused otherwise`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.writeBytesWaitingMax = 1_000 }
        defer { engine.close() }
        _ = try await engine.fill(upTo: 1, byteCount: 5_000)
        let gate = Gate()
        await gate.holdWriter(of: engine)
        let error = await #expect(throws: StorageError.self) { try await engine.fill("two", upTo: 1, byteCount: 5_000) }
        gate.open()
        guard case .unavailable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await engine.load(TestData.key("two")) == nil)
    }

    @Test func `reads are refused when too many wait`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.readsWaitingMax = 2 }
        defer { engine.close() }
        let gate = Gate()
        await gate.holdReader(of: engine)
        let answers = Answers<StoredSession?>(expecting: 2)
        engine.load(TestData.key(), reply: answers.reply(0))
        engine.load(TestData.key(), reply: answers.reply(1))
        gate.open()
        let results = await answers.all()
        #expect(try results[0].get() == nil)
        #expect(throws: StorageError.self) { try results[1].get() }
    }

    @Test func `an append notices a commit of another program`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        let head = try await engine.fill(upTo: 3)
        try RawDatabase(folder.databasePath).execute("DELETE FROM log WHERE v = 3")
        #expect(try await engine.append(TestData.key(), at: .after(head), [TestData.entry(4)]) == .conflict)
        #expect(try await engine.load(TestData.key())?.tail == TestData.entries(1...2))
    }

    @Test func `another program's write lock makes writes unavailable, but not reads`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.lockWaitMilliseconds = 1 }
        defer { engine.close() }
        let head = try await engine.fill(upTo: 1)
        let raw = try RawDatabase(folder.databasePath)
        try raw.execute("BEGIN IMMEDIATE")
        let error = await #expect(throws: StorageError.self) {
            _ = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(2)])
        }
        guard case .unavailable(let detail) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.contains("another program holds a lock on \(folder.databasePath)"))
        #expect(try await engine.load(TestData.key())?.head == head)
        try raw.execute("ROLLBACK")
        _ = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(2)]).head()
    }
}
