// Checks the reads of a collection's keys after a start, and the requests that wait for them.

import Dispatch
import Foundation
import Glibc
import RivuletSQLite
import RivuletSessions
import RivuletStores
import StorageConformance
import Synchronization
import Testing

@Suite struct SQLiteItemKeysTests {
    private let notes = [ItemChange.put(key: "a", document: [1]), .put(key: "b", document: [2])]

    /// An engine that has just started on a folder with a collection.
    private func restarted(
        in folder: TemporaryFolder,
        _ change: (inout SQLiteStorageLimits) -> Void = { _ in }
    ) async throws -> SQLiteStorageEngine {
        let first = try folder.engine()
        try await first.collection("notes").commit(notes)
        first.close()
        return try folder.engine(change)
    }

    /// Requests a commit, and waits for its answer.
    ///
    /// Earlier requests are answered first unless they wait for keys.
    private func commit(to collection: String, of engine: SQLiteStorageEngine, noting order: Order) async {
        await withCheckedContinuation { continuation in
            engine.commit([.put(key: "x", document: [])], to: collection) { result in
                order.add(collection, result)
                continuation.resume()
            }
        }
    }

    private final class Order: Sendable {
        private let answered = Mutex<[String]>([])

        var answers: [String] { answered.withLock(\.self) }

        func add(_ name: String, _ result: Result<Void, ItemStorageError>) {
            answered.withLock { $0.append(result.error == nil ? name : "\(name) failed") }
        }

        func reply(
            _ name: String,
            _ reply: @escaping ItemStorageReply<Void>
        ) -> ItemStorageReply<Void> {
            { result in
                self.add(name, result)
                reply(result)
            }
        }
    }

    @Test func `while the keys of a collection are read, only its own commits wait`() async throws {
        let folder = try TemporaryFolder()
        let engine = try await restarted(in: folder)
        defer { engine.close() }
        let (gate, order, answers) = (Gate(), Order(), ItemAnswers<Void>(expecting: 3))
        await gate.holdReader(of: engine)
        let changes = [ItemChange.remove(key: "a"), .put(key: "c", document: [3]), .put(key: "a", document: [4])]
        for (index, change) in changes.enumerated() {
            engine.commit([change], to: "notes", reply: order.reply("notes", answers.reply(index)))
        }
        await commit(to: "drafts", of: engine, noting: order)
        _ = try await engine.fill(upTo: 1)
        #expect(order.answers == ["drafts"])
        gate.open()
        for answer in await answers.all() { try answer.get() }
        #expect(order.answers == ["drafts", "notes", "notes", "notes"])
        #expect(try await engine.collection("notes").contents().items.map(\.document) == [[2], [3], [4]])
        #expect(engine.keyReadsByWriter == 0)
    }

    @Test func `a commit after a read of the collection does not wait`() async throws {
        let folder = try TemporaryFolder()
        let engine = try await restarted(in: folder)
        defer { engine.close() }
        _ = try await engine.collection("notes").contents()
        let (gate, order, answers) = (Gate(), Order(), ItemAnswers<Void>(expecting: 1))
        await gate.holdReader(of: engine)
        let change = ItemChange.put(key: "a", document: [3])
        engine.commit([change], to: "notes", reply: order.reply("notes", answers.reply(0)))
        await commit(to: "drafts", of: engine, noting: order)
        #expect(order.answers == ["notes", "drafts"])
        gate.open()
        try await answers.all()[0].get()
        #expect(try await engine.collection("notes").contents().items.map(\.document) == [[3], [2]])
        #expect(engine.keyReadsByWriter == 0)
    }

    @Test func `keys stay in the cache while free pages are returned to the disk`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.idleMilliseconds = 1 }
        defer { engine.close() }
        try await engine.collection("notes").commit(notes)
        let document = [UInt8](repeating: 1, count: 1 << 20)
        try await engine.collection("large").commit((0..<8).map { .put(key: "\($0)", document: document) })
        try await engine.collection("large").commit([.removeAll])
        let raw = try RawDatabase(folder.databasePath)
        while try Int(raw.text("PRAGMA freelist_count") ?? "") ?? 0 > 1_024 { await Task.yield() }
        try await engine.collection("notes").commit([.put(key: "c", document: [3])])
        #expect(engine.keyReadsByWriter == 0)
    }

    @Test func `keys that were read before another program wrote are not used`() async throws {
        let folder = try TemporaryFolder()
        let engine = try await restarted(in: folder)
        defer { engine.close() }
        _ = try await engine.collection("notes").contents()
        try RawDatabase(folder.databasePath).execute("DELETE FROM item WHERE key = 'a'")
        try await engine.collection("notes").commit([.put(key: "a", document: [3])])
        #expect(try await engine.collection("notes").contents().items.map(\.document) == [[2], [3]])
        #expect(engine.keyReadsByWriter == 1)
    }

    @Test func `keys that were read before the writer dropped its cache are not used`() async throws {
        let folder = try TemporaryFolder()
        let engine = try await restarted(in: folder) { $0.keysRememberedMax = 2 }
        defer { engine.close() }
        let notes = engine.collection("notes")
        _ = try await notes.contents()
        try await engine.collection("drafts").commit(self.notes + [.put(key: "c", document: [3])])
        try await notes.commit([.put(key: "c", document: [3])])
        try await notes.commit([.put(key: "c", document: [4]), .remove(key: "a")])
        #expect(try await notes.contents().items.map(\.document) == [[2], [4]])
        #expect(engine.keyReadsByWriter == 0)
    }

    @Test func `a server that closes makes the commits that wait for keys`() async throws {
        let folder = try TemporaryFolder()
        let engine = try await restarted(in: folder)
        let (gate, answers) = (Gate(), ItemAnswers<Void>(expecting: 1))
        await gate.holdReader(of: engine)
        engine.commit([.put(key: "c", document: [3])], to: "notes", reply: answers.reply(0))
        // The writer has received the commit before it answers a later one.
        await commit(to: "drafts", of: engine, noting: Order())
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                engine.close()
                continuation.resume()
            }
            gate.open()
        }
        try await answers.all()[0].get()
        let next = try folder.engine()
        defer { next.close() }
        #expect(try await next.collection("notes").contents().items.map(\.key) == ["a", "b", "c"])
    }

    @Test func `commits that wait for keys are refused when the disk fails`() async throws {
        let folder = try TemporaryFolder()
        let engine = try await restarted(in: folder)
        defer { engine.close() }
        let (gate, order, answers) = (Gate(), Order(), ItemAnswers<Void>(expecting: 1))
        await gate.holdReader(of: engine)
        engine.commit([.put(key: "c", document: [3])], to: "notes", reply: order.reply("notes", answers.reply(0)))
        folder.failDisk(sync: EIO)
        await commit(to: "drafts", of: engine, noting: order)
        folder.failDisk()
        guard case .unavailable(let detail) = await answers.all()[0].error else {
            Issue.record("not unavailable")
            return
        }
        #expect(detail.contains("then restart the server"))
        gate.open()
        #expect(Set(order.answers) == ["notes failed", "drafts failed"])
    }

    @Test func `keys that cannot be read fail the commits that wait for them, and no others`() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        try await first.collection("notes").commit(notes)
        first.close()
        let raw = try RawDatabase(folder.databasePath)
        let page = try #require(Int(raw.text("SELECT rootpage FROM sqlite_schema WHERE name = 'item'") ?? ""))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.databasePath))
        try file.seek(toOffset: UInt64((page - 1) * 4_096))
        try file.write(contentsOf: Data(repeating: 0xff, count: 4_096))
        try file.close()
        let engine = try folder.engine()
        defer { engine.close() }
        for _ in 0..<2 {
            let error = await #expect(throws: ItemStorageError.self) {
                try await engine.collection("notes").commit([.put(key: "a", document: [3])])
            }
            guard case .corrupt = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        let head = try await engine.fill(upTo: 1)
        #expect(try await engine.load(TestData.key())?.head == head)
        #expect(engine.keyReadsByWriter == 0)
    }
}
