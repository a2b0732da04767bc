// Tests the feeds behind the streams of stores and values.

import Foundation
import RivuletBase
import RivuletSessions
import RivuletStores
import StoreFixture
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct SharedFeedTests {
    private let storage = ScriptedItemStorage()

    private func store(_ limits: StoreLimits = StoreLimits()) async throws -> Store<Note> {
        try await Store<Note>(storage: storage.collection("notes"), limits: limits)
    }

    private func feed(of store: Store<Note>) -> any SharedFeed { SharedResource("notes", store).host.makeFeed {} }

    @Test func `E-11: a new stream gets the latest event, and then each later one`() async throws {
        let store = try await store()
        let feed = feed(of: store)
        #expect(try feed.take(joining: .fresh).first.lines == ["loaded 0"])
        try await store.insert([Note("a"), Note("b")])
        try await store.remove(Note("a"))
        let take = try feed.take(joining: .fresh)
        #expect(take.events.lines == ["insert 1 a,b", "remove 2 a"])
        #expect(take.first.lines == ["remove 2 a"])
        #expect(take.version == 2)
        #expect(try feed.take(joining: nil).events.isEmpty)
    }

    @Test func `E-11: a stream from before the load has no version to continue from`() async throws {
        try await store().insert(Note("a"))
        storage.hold()
        let store = Store<Note>.loading(storage)
        let feed = feed(of: store)
        let take = try feed.take(joining: .after(7))
        #expect(take.first.map(\.name) == ["initialized"])
        #expect(take.first.map(\.version) == [nil])
        #expect(take.version == nil)
        storage.release()
        try await store.itemsHaveLoaded()
        #expect(try feed.take(joining: nil).events.lines == ["loaded 0 a"])
    }

    @Test func `a resumed stream gets the missed events, or all items if the events are deleted`() async throws {
        let store = try await store(StoreLimits(historyEventsMax: 2))
        let feed = feed(of: store)
        for id in ["a", "b", "c"] { try await store.insert(Note(id)) }
        #expect(try feed.take(joining: .after(3)).first.isEmpty)
        #expect(try feed.take(joining: .after(1)).first.lines == ["insert 2 b", "insert 3 c"])
        #expect(try feed.take(joining: .after(0)).first.lines == ["reset 3 a,b,c history-gone"])
        #expect(try feed.take(joining: .after(9)).first.lines == ["reset 3 a,b,c unknown-cursor"])
        #expect(try feed.take(joining: .lost(.unknownCursor)).first.lines == ["reset 3 a,b,c unknown-cursor"])
    }

    @Test func `streams that fall behind get all items once`() async throws {
        let store = try await store(StoreLimits(subscriberEventsMax: 2))
        let feed = feed(of: store)
        for id in ["a", "b", "c"] { try await store.insert(Note(id)) }
        #expect(try feed.take(joining: nil).events.lines == ["reset 3 a,b,c history-gone"])
        try await store.insert(Note("d"))
        #expect(try feed.take(joining: nil).events.lines == ["insert 4 d"])
    }

    @Test func `a collection that was read again has a new epoch`() async throws {
        let store = try await store()
        let feed = feed(of: store)
        storage.failCommit(.indeterminate(detail: "power"))
        await #expect(throws: ItemStorageError.self) { try await store.insert(Note("a")) }
        try await store.insert(Note("b"))
        let lines = try feed.take(joining: nil).events.lines
        #expect(lines.first?.hasPrefix("reset 1") == true)
        #expect(lines.first?.hasSuffix("epoch-changed") == true)
        #expect(lines.last == "insert 2 b")
    }

    @Test(arguments: [true, false])
    func `no stream resumes across a commit with an unknown outcome`(
        isWritten: Bool
    ) async throws {
        let store = try await store()
        try await store.insert(Note("a"))
        let events = await store.laterEvents()
        storage.failCommit(.indeterminate(detail: "fsync"), isWritten: isWritten)
        await #expect(throws: ItemStorageError.self) { try await store.insert(Note("b")) }
        #expect(await events.lines(1) == [isWritten ? "loaded a,b" : "loaded a"])
        try await store.insert(Note("c"))
        #expect(try feed(of: store).take(joining: .after(1)).first.map(\.name) == ["reset"])
    }

    @Test func `an event too large for one block is a reset with the first items and the next page's start`()
        async throws
    {
        let store = try await store()
        let feed = feed(of: store)
        let text = String(repeating: "x", count: 400_000)
        try await store.insert(Note("first"))
        try await store.insert(["a", "b", "c", "d"].map { Note($0, text) })
        try await store.insert(Note("last"))
        let take = try feed.take(joining: .after(1))
        #expect(take.events.map(\.name) == ["reset"])
        #expect(take.first.map(\.name) == ["reset"])
        #expect(take.version == 3)
        #expect(take.events.first?.document.ids == ["first", "a", "b", "c"])
        #expect(take.events.first?.document.next == "c")
        try await store.removeAll()
        let emptied = try #require(try feed.take(joining: nil).events.first)
        #expect(emptied.name == "reset")
        #expect(emptied.document.ids.isEmpty)
    }

    @Test func `first events too large for a new stream are a reset for that stream alone`() async throws {
        let store = try await store()
        let feed = feed(of: store)
        try await store.insert(["a", "b", "c", "d"].map { Note($0, String(repeating: "x", count: 400_000)) })
        #expect(try feed.take(joining: nil).events.map(\.name) == ["reset"])
        try await store.insert(Note("e"))
        let take = try feed.take(joining: .after(0))
        #expect(take.events.lines == ["insert 2 e"])
        #expect(take.first.map(\.name) == ["reset"])
        #expect(take.version == 2)
        try await store.removeAll()
        _ = try feed.take(joining: nil)
        let fresh = try feed.take(joining: .fresh)
        #expect(fresh.events.isEmpty)
        #expect(fresh.first.lines == ["reset 3 history-gone"])
    }

    @Test func `large events are not kept, neither for open streams nor for resumed ones`()
        async throws
    {
        let store = try await store()
        let feed = feed(of: store)
        let text = String(repeating: "x", count: 400_000)
        for _ in 1...30 { try await store.insert(Note("a", text)) }
        let take = try feed.take(joining: .after(1))
        #expect(take.events.lines == ["reset 30 a history-gone"])
        #expect(take.first.lines == ["reset 30 a history-gone"])
        #expect(try feed.take(joining: .after(28)).first.lines == ["insert 29 a", "insert 30 a"])
        try await store.insert(Note("b"))
        #expect(try feed.take(joining: nil).events.lines == ["insert 31 b"])
    }

    @Test func `E-16: the event of an insert in one step with a removal has the removed items`() async throws {
        let store = try await store()
        let feed = feed(of: store)
        try await store.insert(["a", "b", "c"].map { Note($0) })
        _ = try feed.take(joining: nil)
        try await store.remove([Note("a"), Note("x")]).insert([Note("a"), Note("d")]).run()
        try await store.removeAll().insert(Note("e")).run()
        #expect(
            try feed.take(joining: nil).events.map(\.text) == [
                #"insert 2 {"version":2,"operation":"insert","items":[{"id":"a","text":""},{"id":"d","text":""}],"#
                    + #""removed":[{"id":"a","text":""}]}"#,
                #"insert 3 {"version":3,"operation":"insert","items":[{"id":"e","text":""}],"removedAll":true}"#,
            ]
        )
    }

    @Test func `a load that fails ends the feed`() async throws {
        storage.failRead(.corrupt(detail: "torn"))
        storage.hold()
        let woken = Mutex(0)
        let store = Store<Note>.loading(storage)
        let feed = SharedResource("notes", store).host.makeFeed { woken.withLock { $0 += 1 } }
        storage.release()
        await #expect(throws: ItemStorageError.self) { try await store.itemsHaveLoaded() }
        #expect(throws: SharedError.self) { try feed.take(joining: nil) }
        #expect(woken.withLock { $0 } == 1)
    }

    @Test func `a feed is woken once for all waiting events`() async throws {
        let store = try await store()
        let woken = Mutex(0)
        let feed = SharedResource("notes", store).host.makeFeed { woken.withLock { $0 += 1 } }
        for id in ["a", "b", "c"] { try await store.insert(Note(id)) }
        #expect(woken.withLock { $0 } == 1)
        _ = try feed.take(joining: nil)
        try await store.insert(Note("d"))
        #expect(woken.withLock { $0 } == 2)
        feed.close()
        try await store.insert(Note("e"))
        #expect(woken.withLock { $0 } == 2)
        #expect(store.subscriberCount == 0)
    }

    // MARK: - Values

    @Test func `E-18: a feed has the current value, then each value that is set`() async throws {
        let value = StoredValue(key: "theme", default: "light", storage: storage.collection("values"))
        let host = SharedResource(value).host
        let start = try await host.current()
        #expect(start.text == #"0 "light""#)
        let feed = host.makeFeed {}
        #expect(try feed.take(joining: .fresh).first.map(\.text) == [#"change 0 {"version":0,"value":"light"}"#])
        try await value.set("dark")
        try await value.set("dark")
        let take = try feed.take(joining: .after(1))
        #expect(
            take.events.map(\.text) == [
                #"change 1 {"version":1,"value":"dark"}"#, #"change 2 {"version":2,"value":"dark"}"#,
            ]
        )
        #expect(take.first.map(\.text) == [#"change 2 {"version":2,"value":"dark"}"#])
        #expect(try feed.take(joining: .after(2)).first.isEmpty)
        feed.close()
        try await value.set("other")
        #expect(try feed.take(joining: nil).events.isEmpty)
    }

    @Test func `a feed that is not read drops the oldest values`() async throws {
        let value = StoredValue(key: "count", default: 0, storage: storage.collection("values"))
        let feed = SharedResource(value).host.makeFeed {}
        for number in 1...1_025 { try await value.set(number) }
        let events = try feed.take(joining: nil).events
        #expect(events.count == 1_024)
        #expect(events.first?.version == 2)
        #expect(events.last?.version == 1_025)
    }

    @Test(arguments: [true, false])
    func `a value is read again after an unknown outcome, and gets a version of its own`(_ isWritten: Bool) async throws
    {
        let value = StoredValue(key: "theme", default: "light", storage: storage.collection("values"))
        let host = SharedResource(value).host
        try await value.set("dark")
        let feed = host.makeFeed {}
        storage.failCommit(.indeterminate(detail: "power"), isWritten: isWritten)
        await #expect(throws: ItemStorageError.self) { try await value.set("other") }
        storage.failRead(.unavailable(detail: "power"))
        await expect(refusal: "storage is unavailable: power") { _ = try await host.current() }
        let found = isWritten ? "other" : "dark"
        #expect(try await host.current().text == "2 \"\(found)\"")
        #expect(try feed.take(joining: nil).events.map(\.version) == [2])
        #expect(value.wrappedValue == found)
        #expect(try await host.set(#""last""#).text == #"3 "last""#)
    }

    @Test func `a feed of a value keeps as many of the newest values as have room`() async throws {
        let value = StoredValue(key: "text", default: "", storage: storage.collection("values"))
        let feed = SharedResource(value).host.makeFeed {}
        for number in 1...30 { try await value.set(String(repeating: "x", count: 400_000) + "\(number)") }
        let events = try feed.take(joining: nil).events
        #expect(events.count == 10)
        #expect(events.last?.version == 30)
        try await value.set(String(repeating: "x", count: 900_000))
        #expect(try feed.take(joining: nil).events.map(\.version) == [31])
    }

    @Test func `a value that cannot be read is an error until it is set`() async throws {
        let values = storage.collection("values")
        try await values.commit([.put(key: "flag", document: Array("{".utf8))])
        let host = SharedResource(StoredValue(key: "flag", default: false, storage: values)).host
        await expect(refusal: "the stored value cannot be read") { _ = try await host.current() }
        await expect(refusal: "the stored value cannot be read") {
            _ = try await host.toggled(expected: nil)
        }
        await expect(refusal: "the stored value cannot be read") {
            _ = try await host.set("true", expected: [0])
        }
        #expect(try await values.contents().items.first?.document == Array("{".utf8))
        #expect(try await host.set("true").text == "1 true")
        #expect(try await host.current().text == "1 true")
    }

    @Test func `E-19, E-21: a value is set, toggled and reset under a condition`() async throws {
        let value = StoredValue(key: "flag", default: false, storage: storage.collection("values"))
        let host = SharedResource(value).host
        #expect(host.isBool)
        #expect(try await host.set("true").text == "1 true")
        #expect(try await host.toggled(expected: [1]).text == "2 false")
        await expect(refusal: "the current version is 2") { _ = try await host.toggled(expected: [1]) }
        #expect(try await host.set("true", expected: [2]).text == "3 true")
        #expect(try await host.reset().text == "4 false")
        await #expect(throws: SharedError.self) { _ = try await host.set("12") }
        let again = StoredValue(key: "flag", default: true, storage: storage.collection("values"))
        #expect(again.wrappedValue == false)
    }
}
