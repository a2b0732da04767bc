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

    @Test func `E-15: nothing runs before run, and a second run does nothing`() async throws {
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

    @Test func `E-15: a result that is used as a chain is one, any other operation runs at once`() async throws {
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

    @Test func `E-15: an error stops a chain, earlier steps stay, and it cannot be run again`() async throws {
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

    @Test func `E-15: steps run in their order, also against others of the same items`() async throws {
        let store = try await store(["a", "b", "c", "d"])
        try await store.insert(Note("e")).remove(Note("a")).insert(Note("a")).remove([Note("b"), Note("e")]).run()
        try await expect(["c", "d", "a"], in: store)
    }

    @Test func `E-16: an insert behind a removal of a list is one commit and one event with it`() async throws {
        let store = try await store(["a", "b", "c"])
        let events = await store.laterEvents()
        try await store.remove([Note("a"), Note("b")]).insert([Note("d"), Note("a", "new")]).run()
        #expect(await events.lines(1) == ["insert d,a=new"])
        #expect(storage.commits.dropFirst().map(\.count) == [4])
        try await expect(["c", "d", "a=new"], in: store)
    }

    @Test func `E-16: an insert behind the removal of all is one commit and one event with it`() async throws {
        let store = try await store(["a", "b", "c"])
        let events = await store.laterEvents()
        try await store.removeAll().insert(Note("b", "new")).insert(Note("d")).run()
        #expect(await events.lines(2) == ["insert b=new", "insert d"])
        #expect(storage.commits.dropFirst().map(\.count) == [2, 1])
        try await expect(["b=new", "d"], in: store)
    }

    @Test func `E-16: an insert behind the removal of one item is a step of its own`() async throws {
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

    @Test func `E-16: a removal and an insert that fail together have lost nothing`() async throws {
        let store = try await store(["a", "b"])
        storage.failCommit(.full(detail: "disk"))
        await #expect(throws: ItemStorageError.full(detail: "disk")) {
            try await store.removeAll().insert(Note("c")).run()
        }
        try await expect(["a", "b"], in: store)
    }
}
