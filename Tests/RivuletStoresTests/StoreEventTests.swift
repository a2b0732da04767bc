// Tests the events of a store.

import Foundation
import RivuletJSON
import RivuletStores
import StoreFixture
import Testing

@Suite(.timeLimit(.minutes(1))) struct StoreEventTests {
    private let storage = ScriptedItemStorage()

    private func loaded(_ ids: [String] = [], limits: StoreLimits = StoreLimits()) async throws -> Store<Note> {
        let notes = storage.collection("notes")
        try await Store<Note>(storage: notes).insert(ids.map { Note($0) })
        return try await Store(storage: notes, limits: limits)
    }

    @Test func `E-10: an event is Codable`() throws {
        let event = StoreEvent(operation: .insert, items: [Note("a", "1")])
        let text = try JSONEncoder().encode(event)
        let value = try JSONValue(parsing: Array(text))
        #expect(value["operation"] == "insert")
        #expect(value["items"]?[0]?["id"] == "a")
        #expect(try JSONDecoder().decode(StoreEvent<Note>.self, from: text).line == "insert a=1")
        #expect(StoreEvent<Note>.Operation.allCases == [.initialized, .loaded, .insert, .remove])
    }

    @Test func `E-10, E-11: a stream begins with the latest event and has every later one`() async throws {
        storage.hold()
        let store = Store.loading(storage)
        let early = store.events
        storage.release()
        try await store.insert([Note("a"), Note("b")])
        let middle = store.events
        try await store.remove(Note("a"))
        let late = store.events
        #expect(await early.lines(4) == ["initialized ", "loaded ", "insert a,b", "remove a"])
        #expect(await middle.lines(2) == ["insert a,b", "remove a"])
        #expect(await late.lines(1) == ["remove a"])
    }

    @Test func `E-11: every waiting stream gets every event`() async throws {
        let store = try await loaded()
        let streams = [store.events, store.events]
        try await withThrowingTaskGroup(of: [String].self) { group in
            for stream in streams { group.addTask { await stream.lines(4) } }
            for id in ["a", "b", "c"] { try await store.insert(Note(id)) }
            for try await lines in group { #expect(lines == ["loaded ", "insert a", "insert b", "insert c"]) }
        }
    }

    @Test func `E-12: a load is one event with all items, and a failed load is no event`() async throws {
        let store = try await loaded(["a", "b"])
        #expect(await store.events.lines(1) == ["loaded a,b"])
        storage.failRead(.corrupt(detail: "page"))
        let broken = Store.loading(storage)
        await #expect(throws: ItemStorageError.corrupt(detail: "page")) { try await broken.itemsHaveLoaded() }
        #expect(await broken.events.lines(1) == ["initialized "])
        #expect(broken.items.isEmpty)
    }

    @Test func `E-13: the event of an insert has each given item once, also an item that existed`() async throws {
        let store = try await loaded(["a", "b"])
        let events = store.events
        try await store.insert([Note("b", "1"), Note("c"), Note("b", "2")])
        try await store.insert([Note]())
        #expect(await events.lines(3) == ["loaded a,b", "insert b=2,c", "insert "])
        #expect(try await Store.lines(in: storage) == ["a", "b=2", "c"])
    }

    @Test func `E-14: the event of a removal has the items as given, also unknown items`() async throws {
        let store = try await loaded(["a", "b"])
        let events = store.events
        try await store.remove(Note("x", "not there"))
        try await store.remove([Note("b", "another text"), Note("b")])
        #expect(await events.lines(3) == ["loaded a,b", "remove x=not there", "remove b=another text,b"])
        #expect(try await Store.lines(in: storage) == ["a"])
    }

    @Test func `E-14: the event of removeAll has the items that existed, and none for an empty store`() async throws {
        let store = try await loaded(["a", "b"])
        let events = store.events
        try await store.removeAll()
        try await store.removeAll()
        #expect(await events.lines(3) == ["loaded a,b", "remove a,b", "remove "])
        #expect(try await Store.lines(in: storage).isEmpty)
    }

    @Test func `a failed operation is no event`() async throws {
        let store = try await loaded()
        let events = store.events
        storage.failCommit(.full(detail: "disk"))
        await #expect(throws: ItemStorageError.full(detail: "disk")) { try await store.insert(Note("a")) }
        try await store.insert(Note("b"))
        #expect(await events.lines(2) == ["loaded ", "insert b"])
        #expect(store.version == 1)
    }

    @Test func `a subscriber that falls behind gets all items in place of the missed events`() async throws {
        let store = try await loaded(limits: StoreLimits(subscriberEventsMax: 2))
        let (slow, quick) = (store.events, store.events)
        #expect(await quick.lines(1) == ["loaded "])
        for id in ["a", "b"] { try await store.insert(Note(id)) }
        #expect(await quick.lines(2) == ["insert a", "insert b"])
        #expect(await slow.lines(1) == ["loaded a,b"])
        try await store.insert(Note("c"))
        #expect(await slow.lines(1) == ["insert c"])
        #expect(await quick.lines(1) == ["insert c"])
    }

    @Test func `a subscriber's queue has a limit of items, but a single event may exceed it`() async throws {
        let store = try await loaded(limits: StoreLimits(subscriberItemsMax: 3))
        let events = store.events
        #expect(await events.lines(1) == ["loaded "])
        try await store.insert((0..<5).map { Note("\($0)") })
        #expect(await events.lines(1) == ["insert 0,1,2,3,4"])
        try await store.insert([Note("5"), Note("6")])
        try await store.insert([Note("7"), Note("8")])
        #expect(await events.lines(1) == ["loaded 0,1,2,3,4,5,6,7,8"])
    }

    @Test func `a subscriber's queue has a limit of bytes, but a single event may exceed it`() async throws {
        let store = try await loaded(limits: StoreLimits(subscriberBytesMax: 1_000))
        let large = String(repeating: "x", count: 2_000)
        let events = store.events
        #expect(await events.lines(1) == ["loaded "])
        try await store.insert(Note("a", large))
        #expect(await events.lines(1) == ["insert a=\(large)"])
        try await store.insert(Note("a"))
        try await store.insert(Note("b", large))
        #expect(await events.lines(1) == ["loaded a,b=\(large)"])
    }

    @Test func `a cancelled stream ends, and a released stream is no subscriber`() async throws {
        let store = try await loaded()
        var streams = [store.events, store.events]
        #expect(store.subscriberCount == 2)
        let reader = Task { [stream = streams.removeLast()] in
            for await _ in stream {}
        }
        reader.cancel()
        await reader.value
        #expect(store.subscriberCount == 1)
        streams = []
        #expect(store.subscriberCount == 0)
        try await store.insert(Note("a"))
    }

    @Test func `a cancelled subscription ends the waiting call of next()`() async throws {
        let store = try await loaded()
        let subscription = store.subscribe()
        #expect(await subscription.next()?.event.line == "loaded ")
        async let next = subscription.next()
        subscription.cancel()
        #expect(await next == nil)
        #expect(await subscription.next() == nil)
    }
}
