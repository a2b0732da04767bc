// Checks the errors and the behaviour of an engine if its disk fails or is full.

import Glibc
import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct SQLiteStorageFaultTests {
    private func isUnavailable(_ body: () async throws -> Void) async -> Bool {
        do {
            try await body()
            return false
        } catch StorageError.unavailable(let detail) {
            return detail.contains("then restart the server")
        } catch {
            return false
        }
    }

    @Test func `a failed sync leaves the write indeterminate and ends all work until a restart`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        let head = try await engine.fill(upTo: 1)
        folder.failDisk(sync: EIO)
        let error = await #expect(throws: StorageError.self) {
            _ = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(2)])
        }
        guard case .indeterminate(let detail) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.contains(folder.databasePath))
        folder.failDisk()
        #expect(await isUnavailable { try await engine.probe() })
        #expect(await isUnavailable { _ = try await engine.load(TestData.key()) })
        #expect(await isUnavailable { _ = try await engine.fill("two", upTo: 1) })
        engine.close()
        let next = try folder.engine()
        defer { next.close() }
        let stored = try #require(try await next.load(TestData.key()))
        #expect(stored.tail == TestData.entries(1...stored.head.version))
        #expect((1...2).contains(stored.head.version))
        #expect(try await next.load(TestData.key("two")) == nil)
    }

    @Test func `a failed write to the disk also ends all work, and later writes are not written`()
        async throws
    {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.batchWritesMax = 2 }
        let gate = Gate()
        await gate.holdWriter(of: engine)
        let answers = Answers<AppendOutcome>(expecting: 4)
        for index in 0..<4 {
            let reply = answers.reply(index)
            engine.append(TestData.key("\(index)"), at: TestData.creating, [TestData.entry(1)], reply: reply)
        }
        folder.failDisk(write: EIO)
        gate.open()
        let kinds = await answers.all().map { result in
            switch result {
            case .failure(.indeterminate): "indeterminate"
            case .failure(.unavailable): "unavailable"
            case .failure, .success: "\(result)"
            }
        }
        #expect(kinds == ["indeterminate", "indeterminate", "unavailable", "unavailable"])
        folder.failDisk()
        engine.close()
        let next = try folder.engine()
        defer { next.close() }
        #expect(try await next.sessions(app: "counter", limit: 9) == [])
    }

    @Test func `a failed checkpoint keeps all commits and ends all work`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.walPagesPerCheckpoint = 1 }
        _ = try await engine.fill(upTo: 3)
        let gate = Gate()
        await gate.holdWriter(of: engine) { folder.failDisk(sync: EIO) }
        gate.open()
        #expect(await isUnavailable { try await engine.probe() })
        folder.failDisk()
        engine.close()
        let next = try folder.engine()
        defer { next.close() }
        #expect(try await next.load(TestData.key())?.tail == TestData.entries(1...3))
    }

    @Test func `a full disk fails the whole group and writes nothing, and writes succeed when there is space`()
        async throws
    {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        let head = try await engine.fill(upTo: 1)
        let gate = Gate()
        await gate.holdWriter(of: engine)
        let answers = Answers<AppendOutcome>(expecting: 2)
        engine.append(TestData.key(), at: .after(head), [TestData.entry(2)], reply: answers.reply(0))
        engine.append(TestData.key("two"), at: TestData.creating, [TestData.entry(1)], reply: answers.reply(1))
        folder.failDisk(write: ENOSPC)
        gate.open()
        for answer in await answers.all() {
            guard case .failure(.full(let detail)) = answer else {
                Issue.record("\(answer)")
                continue
            }
            #expect(detail.contains("free space on the disk of \(folder.databasePath)"))
        }
        #expect(try await engine.load(TestData.key())?.head == head)
        #expect(try await engine.load(TestData.key("two")) == nil)
        await #expect(throws: StorageError.self) { try await engine.probe() }
        folder.failDisk()
        try await engine.probe()
        _ = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(2)]).head()
        _ = try await engine.fill("two", upTo: 1)
    }

    @Test func `a full database refuses appends, serves reads, and accepts appends again after a deletion`()
        async throws
    {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.databaseBytesMax = 400_000 }
        defer { engine.close() }
        let first = try await engine.fill("first", upTo: 10, byteCount: 10_000)
        var head = try await engine.fill(upTo: 0)
        var isFull = false
        while !isFull {
            let entry = TestData.entry(head.version + 1, byteCount: 10_000)
            do {
                head = try await engine.append(TestData.key(), at: .after(head), [entry]).head()
            } catch StorageError.full {
                isFull = true
            }
        }
        #expect(head.version > 10)
        #expect(try await engine.load(TestData.key())?.head == head)
        #expect(try await engine.load(TestData.key("first"))?.head == first)
        #expect(try await engine.delete(TestData.key("first")))
        let entry = TestData.entry(head.version + 1, byteCount: 10_000)
        #expect(try await engine.append(TestData.key(), at: .after(head), [entry]).head().version == head.version + 1)
    }

    @Test func `in a full database the writes of a group that fit are committed`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.databaseBytesMax = 400_000 }
        defer { engine.close() }
        let gate = Gate()
        await gate.holdWriter(of: engine)
        let answers = Answers<AppendOutcome>(expecting: 3)
        for (index, bytes) in [100, 900_000, 100].enumerated() {
            let entry = TestData.entry(1, byteCount: bytes)
            engine.append(TestData.key("\(index)"), at: TestData.creating, [entry], reply: answers.reply(index))
        }
        gate.open()
        let results = await answers.all()
        _ = try results[0].get().head()
        guard case .failure(.full) = results[1] else {
            Issue.record("\(results[1])")
            return
        }
        _ = try results[2].get().head()
        #expect(try await engine.load(TestData.key("1")) == nil)
    }
}
