// Tests chains of operations by their results on disk, and by their commits and events.

import RivuletStores
import StoreFixture
import Testing

@Suite(.timeLimit(.minutes(1))) struct StoreOperationTests {
    private let storage = ScriptedItemStorage()

    private func store(_ ids: [String]) async throws -> Store<Note> {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        try await store.insert(ids.map { Note($0) })
        return store
    }

    /// Checks the contents of memory and disk, which must agree.
    private func expect(
        _ lines: [String],
        in store: Store<Note>,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(store.items.lines == lines, sourceLocation: location)
        #expect(try await Store.lines(in: storage) == lines, sourceLocation: location)
    }

    @Test func `E-15: a chain runs only at run(), and a second run() does nothing`() async throws {
        let store = try await store([])
        let chain = try await store.insert(Note("a")).insert([Note("b"), Note("c")]).remove(Note("b"))
        try await expect([], in: store)
        try await chain.run()
        try await expect(["a", "c"], in: store)
        try await store.removeAll()
        try await chain.run()
        try await chain.insert(Note("d")).run()
        try await expect([], in: store)
    }

    @Test func `E-15: an operation runs at once unless its result is used as a chain`() async throws {
        let store = try await store(["x"])
        let chain: Store<Note>.Operation = try await store.removeAll()
        try await expect(["x"], in: store)
        try await chain.run()
        try await expect([], in: store)
        try await store.insert([Note("a"), Note("b"), Note("c")]).remove([Note("a")]).removeAll().run()
        try await expect([], in: store)
        try await store.remove(Note("a")).insert(Note("d")).run()
        try await expect(["d"], in: store)
    }

    @Test func `E-15: an error stops a chain for ever, and its earlier steps stay`() async throws {
        let store = try await store([])
        let chain = try await store.insert(Note("a")).insert(Note("b")).insert(Note("c"))
        try await store.removeAll()
        storage.hold()
        let run = Task { try await chain.run() }
        await storage.waitForCommits(3)
        storage.failCommit(.full(detail: "disk"))
        storage.release()
        await #expect(throws: ItemStorageError.full(detail: "disk")) { try await run.value }
        try await expect(["a"], in: store)
        try await chain.run()
        try await expect(["a"], in: store)
    }

    @Test func `E-15: the steps of a chain run in their order, also on the same items`() async throws {
        let store = try await store(["a", "b", "c", "d"])
        try await store.insert(Note("e")).remove(Note("a")).insert(Note("a")).remove([Note("b"), Note("e")]).run()
        try await expect(["c", "d", "a"], in: store)
    }

    @Test func `E-16: a removal of a list and the next insert are one commit and one event`() async throws {
        let store = try await store(["a", "b", "c"])
        let events = await store.laterEvents()
        try await store.remove([Note("a"), Note("b")]).insert([Note("d"), Note("a", "new")]).run()
        #expect(await events.lines(1) == ["insert d,a=new"])
        #expect(storage.commits.dropFirst().map(\.count) == [4])
        try await expect(["c", "d", "a=new"], in: store)
    }

    @Test func `E-16: a removal of all items and the next insert are one commit and one event`() async throws {
        let store = try await store(["a", "b", "c"])
        let events = await store.laterEvents()
        try await store.removeAll().insert(Note("b", "new")).insert(Note("d")).run()
        #expect(await events.lines(2) == ["insert b=new", "insert d"])
        #expect(storage.commits.dropFirst().map(\.count) == [2, 1])
        try await expect(["b=new", "d"], in: store)
    }

    @Test func `E-16: an insert after the removal of one item is a separate step`() async throws {
        let store = try await store(["a", "b"])
        let events = await store.laterEvents()
        try await store.remove(Note("a")).insert(Note("c")).run()
        #expect(await events.lines(2) == ["remove a", "insert c"])
        #expect(storage.commits.dropFirst().map(\.count) == [1, 1])
        try await expect(["b", "c"], in: store)
    }

    @Test func `E-16: only the last removal is joined with an insert`() async throws {
        let store = try await store(["a", "b", "c"])
        let events = await store.laterEvents()
        try await store.remove([Note("a")]).removeAll().insert(Note("d")).run()
        #expect(await events.lines(2) == ["remove a", "insert d"])
        #expect(storage.commits.dropFirst().map(\.count) == [1, 2])
        try await expect(["d"], in: store)
    }

    @Test func `E-16: a joined removal and insert that fail change nothing`() async throws {
        let store = try await store(["a", "b"])
        storage.failCommit(.full(detail: "disk"))
        await #expect(throws: ItemStorageError.full(detail: "disk")) {
            try await store.removeAll().insert(Note("c")).run()
        }
        try await expect(["a", "b"], in: store)
    }
}
