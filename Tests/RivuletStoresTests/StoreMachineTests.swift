// Tests the order of requests, and a store's behaviour if storage is slow, uncertain or damaged.

import Foundation
import InMemoryLogging
import Logging
import RivuletStores
import StoreFixture
import Testing

@Suite(.timeLimit(.minutes(1))) struct StoreMachineTests {
    private let storage = ScriptedItemStorage()

    /// Requests an insert, and returns when the storage has received the commit.
    private func ask(_ store: Store<Note>, _ note: Note) async -> Task<Void, any Error> {
        let count = storage.commits.count
        let task = Task { try await store.insert(note) }
        await storage.waitForCommits(count + 1)
        return task
    }

    @Test func `operations that are requested before the load run after it, in their order`() async throws {
        try await Store<Note>(storage: storage.collection("notes")).insert([Note("a", "old"), Note("b")])
        storage.hold()
        let store = Store.loading(storage)
        let chain = Task { try await store.insert(Note("c")).insert(Note("a", "new")).run() }
        while store.requestCount < 1 { await Task.yield() }
        #expect(storage.commits.count == 1)
        storage.release()
        try await chain.value
        #expect(store.items.lines == ["a=new", "b", "c"])
        #expect(try await Store.lines(in: storage) == ["a=new", "b", "c"])
    }

    @Test func `the storage has several commits at a time, and their results apply in their order`() async throws {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        let events = store.events
        storage.hold()
        var tasks: [Task<Void, any Error>] = []
        for id in ["a", "b", "c"] { tasks.append(await ask(store, Note(id))) }
        #expect(store.items.isEmpty)
        storage.release(isReversed: true)
        for task in tasks { try await task.value }
        #expect(await events.lines(4) == ["loaded ", "insert a", "insert b", "insert c"])
        #expect(store.items.lines == ["a", "b", "c"])
        #expect(try await Store.lines(in: storage) == ["a", "b", "c"])
    }

    @Test func `a change is visible only after it is durable`() async throws {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        storage.hold()
        let task = await ask(store, Note("a"))
        #expect(store.items.isEmpty)
        #expect(store.version == 0)
        storage.release()
        try await task.value
        #expect(store.items.lines == ["a"])
        #expect(store.version == 1)
    }

    @Test func `a cancelled request is carried out`() async throws {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        storage.hold()
        let task = await ask(store, Note("a"))
        task.cancel()
        storage.release()
        try await task.value
        #expect(try await Store.lines(in: storage) == ["a"])
    }

    @Test func `a failed request among many fails no other`() async throws {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        storage.hold()
        let first = await ask(store, Note("a"))
        storage.failCommit(.full(detail: "disk"))
        let second = await ask(store, Note("b"))
        let third = await ask(store, Note("c"))
        storage.release()
        try await first.value
        await #expect(throws: ItemStorageError.full(detail: "disk")) { try await second.value }
        try await third.value
        #expect(store.items.lines == ["a", "c"])
        #expect(try await Store.lines(in: storage) == ["a", "c"])
    }

    @Test(arguments: [true, false])
    func `a store reads its items again after an indeterminate commit`(isWritten: Bool) async throws {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        try await store.insert(Note("a"))
        let events = await store.laterEvents()
        storage.failCommit(.indeterminate(detail: "fsync"), isWritten: isWritten)
        await #expect(throws: ItemStorageError.indeterminate(detail: "fsync")) { try await store.insert(Note("b")) }
        #expect(await events.lines(1) == [isWritten ? "loaded a,b" : "loaded a"])
        try await store.insert(Note("c"))
        #expect(await events.lines(1) == ["insert c"])
        #expect(store.version == 3)
        #expect(try await Store.lines(in: storage) == store.items.lines)
    }

    @Test func `after an indeterminate commit and a failed read, the next operation reads again`() async throws {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        storage.failCommit(.indeterminate(detail: "fsync"), isWritten: true)
        storage.failRead(.unavailable(detail: "once"))
        storage.failRead(.unavailable(detail: "twice"))
        await #expect(throws: ItemStorageError.indeterminate(detail: "fsync")) { try await store.insert(Note("a")) }
        await #expect(throws: ItemStorageError.unavailable(detail: "twice")) { try await store.insert(Note("b")) }
        try await store.itemsHaveLoaded()
        try await store.insert(Note("c"))
        #expect(store.items.lines == ["a", "c"])
        #expect(try await Store.lines(in: storage) == ["a", "c"])
    }

    @Test func `requests above the limit are refused until earlier requests are done`() async throws {
        let limits = StoreLimits(requestsMax: 2)
        let store = try await Store<Note>(storage: storage.collection("notes"), limits: limits)
        storage.hold()
        let tasks = [await ask(store, Note("a")), await ask(store, Note("b"))]
        await #expect(throws: StoreError.busy(detail: "2 requests wait for the storage")) {
            try await store.insert(Note("c"))
        }
        storage.release()
        for task in tasks { try await task.value }
        try await store.insert(Note("c"))
        #expect(try await Store.lines(in: storage) == ["a", "b", "c"])
    }

    @Test func `bytes above the limit are refused, but a single request may have more`() async throws {
        let limits = StoreLimits(requestBytesMax: 100)
        let store = try await Store<Note>(storage: storage.collection("notes"), limits: limits)
        storage.hold()
        let task = await ask(store, Note("a", String(repeating: "x", count: 200)))
        await #expect {
            try await store.insert(Note("b"))
        } throws: { error in
            if case .busy? = error as? StoreError { true } else { false }
        }
        storage.release()
        try await task.value
        try await store.insert(Note("b"))
        #expect(try await Store.lines(in: storage).count == 2)
    }

    @Test func `the number of commits at a time is limited`() async throws {
        let limits = StoreLimits(commitsMax: 1)
        let store = try await Store<Note>(storage: storage.collection("notes"), limits: limits)
        storage.hold()
        let first = await ask(store, Note("a"))
        async let second: Void = store.insert(Note("b"))
        while store.requestCount < 2 { await Task.yield() }
        #expect(storage.heldCount == 1)
        storage.release()
        try await first.value
        try await second
        #expect(try await Store.lines(in: storage) == ["a", "b"])
    }

    @Test func `an unreadable item is reported and hides no other, until its key is written`() async throws {
        let notes = storage.collection("notes")
        let texts = ["a": #"{"id":"a","text":""}"#, "b": "{", "c": #"{"id":"x","text":""}"#, "d\nd": #"{"id":"d\nd"}"#]
        for (key, text) in texts.sorted(by: { $0.key < $1.key }) {
            try await notes.write(Data(text.utf8), key: CacheKey(key))
        }
        try await notes.write(Data(#"{"id":"e","text":""}"#.utf8), key: CacheKey("e"))
        let log = InMemoryLogHandler()
        let store = try await Store<Note>(storage: notes, logger: Logger(label: "test") { _ in log })
        #expect(store.items.lines == ["a", "e"])
        #expect(store.damagedItems.map(\.key) == ["b", "c", "d\nd"])
        #expect(store.damagedItems.map(\.detail).filter(\.isEmpty).isEmpty)
        // Keys and documents are not logged. Clients and `rivulet check` get them.
        #expect(log.entries.map(\.metadata) == [["store": "notes", "count": "3"]])
        try await store.insert(Note("f"))
        #expect(try await notes.keyCount() == 6)
        try await store.insert([Note("g"), Note("b", "new")])
        try await store.remove(Note("c"))
        #expect(store.damagedItems.map(\.key) == ["d\nd"])
        #expect(store.items.lines == ["a", "e", "f", "g", "b=new"])
        #expect(try await Store.lines(in: storage) == ["a", "e", "f", "g", "b=new"])
        #expect(try await notes.allKeys().map(\.rawValue) == ["a", "d\nd", "e", "f", "g", "b"])
    }

    @Test func `concurrent inserts over an unreadable item have the same order in memory and on disk`() async throws {
        try await storage.collection("notes").write(Data("{".utf8), key: CacheKey("b"))
        let store = try await Store<Note>(storage: storage.collection("notes"))
        storage.hold()
        let first = await ask(store, Note("a"))
        async let second: Void = store.insert(Note("b", "1"))
        async let third: Void = store.insert(Note("b", "2"))
        async let fourth: Void = store.insert(Note("c"))
        while store.requestCount < 4 { await Task.yield() }
        #expect(storage.heldCount == 1)
        storage.release()
        try await first.value
        _ = try await (second, third, fourth)
        #expect(store.damagedItems.isEmpty)
        #expect(try await Store.lines(in: storage) == store.items.lines)
    }

    @Test func `items that the storage reports as damaged are listed until they are removed`() async throws {
        for number in 0..<12 { storage.damage(DamagedItem(key: number == 0 ? nil : "\(number)", detail: "checksum")) }
        let log = InMemoryLogHandler()
        let logger = Logger(label: "test") { _ in log }
        let store = try await Store<Note>(storage: storage.collection("notes"), logger: logger)
        #expect(store.damagedItems.count == 12)
        let line = try #require(log.entries.first)
        #expect(log.entries.count == 1)
        #expect(line.metadata["count"] == "12")
        try await store.remove([Note("3"), Note("4")])
        #expect(store.damagedItems.map(\.key) == [nil] + [1, 2, 5, 6, 7, 8, 9, 10, 11].map(String.init))
        try await store.removeAll()
        #expect(store.damagedItems.isEmpty)
    }
}
