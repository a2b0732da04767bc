// Tests the contents of a store, also after a restart of the process.

import Foundation
import Observation
import RivuletStores
import StoreFixture
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct StoreTests {
    private let storage = ScriptedItemStorage()

    @Test func `E-01: items need not be Equatable, and are read as they were stored`() async throws {
        let item: any StorableItem = Note("a")
        #expect(!(item is any Equatable))
        let store = try await Store<Note>(storage: storage.collection("notes"))
        try await store.insert(Note("a", "é \u{0} 🙂"))
        #expect(try await Store.lines(in: storage) == ["a=é \u{0} 🙂"])
    }

    @Test func `E-02, E-05: a store exists at once without items, and has its items after the load`() async throws {
        try await Store<Note>(storage: storage.collection("notes")).insert([Note("a"), Note("b")])
        storage.hold()
        let store = Store.loading(storage)
        #expect(store.items.isEmpty)
        async let loaded: Void = store.itemsHaveLoaded()
        storage.release()
        try await loaded
        #expect(store.items.lines == ["a", "b"])
        try await store.itemsHaveLoaded()
        #expect(storage.reads == 2)
    }

    @Test func `E-03, E-12: the creation of a store fails if its items cannot be read`() async throws {
        storage.failRead(.corrupt(detail: "page 3"))
        await #expect(throws: ItemStorageError.corrupt(detail: "page 3")) {
            _ = try await Store<Note>(storage: storage.collection("notes"), cacheIdentifier: \.id)
        }
        let store = try await Store<Note>(storage: storage.collection("notes"), cacheIdentifier: \.text)
        #expect(store.items.isEmpty)
    }

    @Test func `E-04: identifiable items need no path, and a UUID is written in upper case`() async throws {
        let tokens = try await Store<Token>(storage: storage.collection("tokens"))
        let id = try #require(UUID(uuidString: "0f8fad5b-d9cb-469f-a165-70867728950e"))
        try await tokens.insert(Token(id: id))
        #expect(try await storage.collection("tokens").allKeys().map(\.rawValue) == [id.uuidString])
        #expect(id.uuidString == "0F8FAD5B-D9CB-469F-A165-70867728950E")
        #expect(try await Store<Token>(storage: storage.collection("tokens")).items.map(\.id) == [id])
        try await tokens.remove(Token(id: id))
        #expect(try await Store<Token>(storage: storage.collection("tokens")).items.isEmpty)
    }

    @Test func `E-05: each call throws the error of a failed load, until an operation loads the store`() async throws {
        try await Store<Note>(storage: storage.collection("notes")).insert(Note("a"))
        storage.failRead(.unavailable(detail: "locked"))
        let store = Store.loading(storage)
        for _ in 1...2 {
            await #expect(throws: ItemStorageError.unavailable(detail: "locked")) { try await store.itemsHaveLoaded() }
        }
        #expect(storage.reads == 2)
        try await store.insert(Note("b"))
        try await store.itemsHaveLoaded()
        #expect(store.items.lines == ["a", "b"])
    }

    @Test func `E-05, E-12: operations that wait for a failed load throw its error and write nothing`() async throws {
        storage.failRead(.unavailable(detail: "locked"))
        storage.hold()
        let store = Store.loading(storage)
        let insertion = Task { try await store.insert(Note("a")) }
        while store.requestCount < 1 { await Task.yield() }
        storage.release()
        await #expect(throws: ItemStorageError.unavailable(detail: "locked")) { try await insertion.value }
        await #expect(throws: ItemStorageError.unavailable(detail: "locked")) { try await store.itemsHaveLoaded() }
        #expect(store.items.isEmpty)
        #expect(storage.commits.isEmpty)
    }

    @Test func `E-06: items are read-only and in the order of insertion, also after a restart`() async throws {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        let path: AnyKeyPath = \Store<Note>.items
        #expect(!(path is ReferenceWritableKeyPath<Store<Note>, [Note]>))
        for id in ["c", "a", "b"] { try await store.insert(Note(id)) }
        try await store.remove(Note("c"))
        try await store.insert(Note("c"))
        #expect(store.items.lines == ["a", "b", "c"])
        #expect(try await Store.lines(in: storage) == ["a", "b", "c"])
    }

    @Test func `E-06: observers of the items are notified of each change, and then read the new items`() async throws {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        let seen = Mutex<[[String]]>([])
        for operation in [{ try await store.insert(Note("a")) }, { try await store.removeAll() }] {
            withObservationTracking {
                _ = store.items
            } onChange: {
                seen.withLock { $0.append(store.items.lines) }
            }
            try await operation()
        }
        #expect(seen.withLock { $0 } == [["a"], []])
    }

    @Test func `E-06: a failed change notifies no observer`() async throws {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        let isTold = Mutex(false)
        withObservationTracking {
            _ = store.items
        } onChange: {
            isTold.withLock { $0 = true }
        }
        storage.failCommit(.full(detail: "disk"))
        await #expect(throws: ItemStorageError.full(detail: "disk")) { try await store.insert(Note("a")) }
        #expect(!isTold.withLock { $0 })
    }

    @Test
    func `E-07: an item with a known identifier keeps its position, and only the given items are written`() async throws
    {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        try await store.insert([Note("a", "1"), Note("b", "1"), Note("a", "2"), Note("c", "1")])
        try await store.insert(Note("b", "2"))
        #expect(store.items.lines == ["a=2", "b=2", "c=1"])
        #expect(try await Store.lines(in: storage) == ["a=2", "b=2", "c=1"])
        #expect(storage.commits.map(\.count) == [3, 1])
    }

    @Test(arguments: [
        ItemStorageError.full(detail: "disk"), .tooLarge(limitBytes: 1), .closed, .indeterminate(detail: "fsync"),
    ])
    func `E-07: an insert that fails on disk changes nothing in memory`(_ error: ItemStorageError) async throws {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        try await store.insert(Note("a", "1"))
        storage.failCommit(error)
        await #expect(throws: error) { try await store.insert([Note("a", "2"), Note("b")]) }
        try await store.insert(Note("c"))
        #expect(store.items.lines == ["a=1", "c"])
        #expect(try await Store.lines(in: storage) == ["a=1", "c"])
    }

    @Test func `E-07: a hundred concurrent inserts have the same order in memory and on disk`() async throws {
        let store = Store.loading(storage)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 { group.addTask { try await store.insert(Note("\(number)")) } }
            try await group.waitForAll()
        }
        #expect(Set(store.items.map(\.id)) == Set((0..<100).map(String.init)))
        #expect(try await Store.lines(in: storage) == store.items.lines)
    }

    @Test func `E-07: an item that JSON cannot carry is refused with its whole list`() async throws {
        let store = try await Store<Measure>(storage: storage.collection("measures"))
        await #expect(throws: StoreError.unrepresentable(key: "b")) {
            try await store.insert([Measure(id: "a", value: 1), Measure(id: "b", value: .nan)])
        }
        #expect(store.items.isEmpty)
        #expect(storage.commits.isEmpty)
    }

    @Test func `E-07: identifiers are any text, and are equal if their bytes are equal`() async throws {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        let ids = ["", "../../etc/passwd", "é", "e\u{301}", "a\u{0}b"]
        try await store.insert(ids.map { Note($0) })
        try await store.remove(Note("é"))
        let rest = ["", "../../etc/passwd", "e\u{301}", "a\u{0}b"].map { Array($0.utf8) }
        #expect(store.items.map { Array($0.id.utf8) } == rest)
        #expect(try await Store.lines(in: storage).map { Array($0.utf8) } == rest)
    }

    @Test
    func `E-08: an item is removed by its identifier only, and removing an unknown item is no error`() async throws {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        try await store.insert((0..<10).map { Note("\($0)") })
        try await store.remove(Note("3", "another text"))
        try await store.remove([Note("5"), Note("x"), Note("5"), Note("9"), Note("0"), Note("1")])
        try await store.remove(Note("y"))
        #expect(store.items.lines == ["2", "4", "6", "7", "8"])
        #expect(try await Store.lines(in: storage) == ["2", "4", "6", "7", "8"])
    }

    @Test func `E-08, E-09: a removal that fails on disk changes nothing in memory`() async throws {
        let store = try await Store<Note>(storage: storage.collection("notes"))
        try await store.insert([Note("a"), Note("b")])
        for operation in [{ try await store.remove(Note("a")) }, { try await store.removeAll() }] {
            storage.failCommit(.unavailable(detail: "busy"))
            await #expect(throws: ItemStorageError.unavailable(detail: "busy")) { try await operation() }
        }
        #expect(store.items.lines == ["a", "b"])
        #expect(try await Store.lines(in: storage) == ["a", "b"])
    }

    @Test func `E-09: removeAll empties memory and disk, also of unreadable items`() async throws {
        let notes = storage.collection("notes")
        try await notes.write(Data("no note".utf8), key: CacheKey("broken"))
        let store = try await Store<Note>(storage: notes)
        try await store.insert(Note("a"))
        #expect(store.damagedItems.map(\.key) == ["broken"])
        try await store.removeAll()
        #expect(store.items.isEmpty)
        #expect(store.damagedItems.isEmpty)
        #expect(try await notes.keyCount() == 0)
    }

    @Test func `E-31: a preview store has its items at once, and performs operations`() async throws {
        let store = Store<Note>.previewStore(items: [Note("a", "1"), Note("b"), Note("a", "2")])
        #expect(store.items.lines == ["a=2", "b"])
        try await store.itemsHaveLoaded()
        #expect(await store.events.lines(1) == ["loaded a=2,b"])
        try await store.insert(Note("c"))
        try await store.remove(Note("b"))
        #expect(store.items.lines == ["a=2", "c"])
        #expect(Store<Note>.previewStore(items: [Note("x", "y")], cacheIdentifier: \.text).items.lines == ["x=y"])
        let id = UUID()
        #expect(Store<Token>.previewStore(items: [Token(id: id)]).items.map(\.id) == [id])
    }
}
