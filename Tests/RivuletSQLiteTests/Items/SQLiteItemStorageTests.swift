// Checks that the SQLite engine satisfies the item storage contract, in the database of the sessions.

import ItemStorageConformance
import RivuletSQLite
import RivuletSessions
import RivuletStores
import StorageConformance
import Synchronization
import Testing

@Suite struct SQLiteItemStorageTests {
    /// A location in a separate folder.
    ///
    /// The earlier engine is closed at each opening.
    private func place(
        _ change: @escaping @Sendable (inout SQLiteStorageLimits) -> Void = { _ in }
    ) throws -> ItemStoragePlace {
        let folder = try TemporaryFolder()
        let last = Mutex<SQLiteStorageEngine?>(nil)
        return ItemStoragePlace { time in
            last.withLock { $0?.close() }
            let engine = try folder.engine(time: time) { limits in
                limits.itemsMax = ItemStorageConformance.itemsMax
                change(&limits)
            }
            last.withLock { $0 = engine }
            return engine
        }
    }

    @Test(arguments: ItemStorageConformance.checks)
    func `E-29: keeps the contract of items`(_ check: ItemStorageCheck) async throws {
        let place = try place()
        try await check.run(place.open())
        // The engine's files exist as long as their folder.
        withExtendedLifetime(place) {}
    }

    @Test(arguments: ItemStorageConformance.checks)
    func `keeps the contract of items without cached keys and with single commits`(
        _ check: ItemStorageCheck
    ) async throws {
        let place = try place { limits in
            limits.keysRememberedMax = 0
            limits.batchWritesMax = 1
            limits.walPagesPerCheckpoint = 1
        }
        try await check.run(place.open())
        withExtendedLifetime(place) {}
    }

    @Test(arguments: ItemStorageConformance.lives)
    func `E-29: keeps items over a restart`(_ check: ItemStorageLivesCheck) async throws {
        try await check.run(place())
    }

    @Test(arguments: 1...6)
    func `has the items of the reference engine after any program of commits`(seed: UInt64) async throws {
        let keysMax = seed.isMultiple(of: 2) ? 5 : 1_000
        try await ItemStorageConformance.runRandomProgram(seed: seed, on: place { $0.keysRememberedMax = keysMax })
    }

    @Test(arguments: 7...9)
    func `has the items of the reference engine when all keys share few hashes`(seed: UInt64) async throws {
        try await ItemStorageConformance.runRandomProgram(seed: seed, on: place { $0.keyHashMask = seed & 2 })
    }

    @Test func `requests before the start wait for it, in their order`() async throws {
        let folder = try TemporaryFolder()
        let engine = SQLiteStorageEngine(folder: folder.path)
        defer { engine.close() }
        let answers = ItemAnswers<Void>(expecting: 2)
        engine.commit([.put(key: "a", document: [1])], to: "notes", reply: answers.reply(0))
        engine.commit([.put(key: "a", document: [2])], to: "notes", reply: answers.reply(1))
        try engine.start()
        for answer in await answers.all() { try answer.get() }
        #expect(try await engine.collection("notes").contents().items.map(\.document) == [[2]])
    }

    @Test func `requests that wait for a start fail when the engine is closed`() async throws {
        let engine = SQLiteStorageEngine(folder: "unused")
        let (reads, writes) = (ItemAnswers<StoredCollection>(expecting: 1), ItemAnswers<Void>(expecting: 1))
        engine.items(of: "notes", reply: reads.reply(0))
        engine.commit([.removeAll], to: "notes", reply: writes.reply(0))
        engine.close()
        #expect(await reads.all() == [.failure(.closed)])
        #expect(await writes.all().map { $0.error } == [.closed])
        await #expect(throws: ItemStorageError.closed) { try await engine.collection("notes").contents() }
    }

    @Test func `waiting requests stay after a failed start`() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        let second = SQLiteStorageEngine(folder: folder.path)
        defer { second.close() }
        let answers = ItemAnswers<Void>(expecting: 1)
        second.commit([.put(key: "a", document: [1])], to: "notes", reply: answers.reply(0))
        #expect(throws: StorageError.self) { try second.start() }
        first.close()
        try second.start()
        try await answers.all()[0].get()
        #expect(try await second.collection("notes").contents().items.count == 1)
    }

    @Test func `a request beyond the limit of waiting requests is refused before the start`() async throws {
        var limits = SQLiteStorageLimits()
        limits.requestsBeforeStartMax = 2
        let engine = SQLiteStorageEngine(folder: "unused", limits: limits)
        let answers = ItemAnswers<Void>(expecting: 3)
        for index in 0..<3 { engine.commit([], to: "notes", reply: answers.reply(index)) }
        engine.close()
        let expected = ItemStorageError.unavailable(detail: "2 requests wait for start() already")
        #expect(await answers.all().map { $0.error } == [.closed, .closed, expected])
    }

    @Test func `items and sessions share one sync`() async throws {
        let folder = try TemporaryFolder()
        folder.failDisk()
        let engine = try folder.engine()
        defer { engine.close() }
        let gate = Gate()
        await gate.holdWriter(of: engine)
        let before = folder.syncs
        let (sessions, items) = (Answers<AppendOutcome>(expecting: 20), ItemAnswers<Void>(expecting: 20))
        for index in 0..<20 {
            let reply = sessions.reply(index)
            engine.append(TestData.key("\(index)"), at: TestData.creating, [TestData.entry(1)], reply: reply)
            engine.commit([.put(key: "a", document: [1])], to: "\(index)", reply: items.reply(index))
        }
        gate.open()
        for answer in await sessions.all() { _ = try answer.get().head() }
        for answer in await items.all() { try answer.get() }
        #expect(folder.syncs == before + 1)
    }

    @Test func `a commit beyond the limit does not undo its group's other commits`() async throws {
        let folder = try TemporaryFolder()
        folder.failDisk()
        let engine = try folder.engine { $0.itemsMax = 1 }
        defer { engine.close() }
        let gate = Gate()
        await gate.holdWriter(of: engine)
        let before = folder.syncs
        let answers = ItemAnswers<Void>(expecting: 3)
        for (index, key) in ["a", "b", "a"].enumerated() {
            engine.commit([.put(key: key, document: [UInt8(index)])], to: "notes", reply: answers.reply(index))
        }
        gate.open()
        #expect(await answers.all().map { $0.error } == [nil, .tooMany(limit: 1), nil])
        #expect(folder.syncs == before + 1)
        #expect(try await engine.collection("notes").contents().items.map(\.document) == [[2]])
    }

    @Test func `a document, a key or a name that is too large is refused with its whole commit`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { limits in
            limits.documentBytesMax = 3
            limits.keyBytesMax = 4
        }
        defer { engine.close() }
        let notes = engine.collection("note")
        await #expect(throws: ItemStorageError.tooLarge(limitBytes: 3)) {
            try await notes.commit([.put(key: "a", document: [1]), .put(key: "b", document: [1, 2, 3, 4])])
        }
        await #expect(throws: ItemStorageError.tooLarge(limitBytes: 4)) {
            try await notes.commit([.put(key: "12345", document: [])])
        }
        await #expect(throws: ItemStorageError.tooLarge(limitBytes: 4)) {
            try await engine.collection("notes").commit([.put(key: "a", document: [])])
        }
        #expect(try await notes.contents() == StoredCollection())
    }

    @Test(.timeLimit(.minutes(1)))
    func `E-29: a removal of all items returns their space to the disk`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { limits in
            limits.walPagesPerCheckpoint = 1
            limits.idleMilliseconds = 1
        }
        defer { engine.close() }
        let notes = engine.collection("notes")
        let document = [UInt8](repeating: 1, count: 80_000)
        try await notes.commit((0..<100).map { .put(key: "\($0)", document: document) })
        try await engine.probe()
        let before = try #require(folder.byteCount(of: "rivulet.db"))
        try await notes.commit([.removeAll])
        while let bytes = folder.byteCount(of: "rivulet.db"), bytes > before * 2 / 3 {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(try await notes.contents() == StoredCollection())
    }
}
