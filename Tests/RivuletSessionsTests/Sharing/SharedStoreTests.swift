// Tests clients' requests to a store, as JSON.

import Foundation
import RivuletSessions
import RivuletStores
import StoreFixture
import Testing

@Suite(.timeLimit(.minutes(1))) struct SharedStoreTests {
    private let storage = ScriptedItemStorage()

    private func host(_ ids: String..., limits: StoreLimits = StoreLimits()) async throws -> any HostedStore {
        let store = try await Store<Note>(storage: storage.collection("notes"), limits: limits)
        if !ids.isEmpty { try await store.insert(ids.map { Note($0) }) }
        return SharedResource("notes", store).host
    }

    private func ids(_ host: any HostedStore) async throws -> [String] {
        try await host.page().document.ids
    }

    // MARK: - Reading

    @Test func `pages follow each other in the store's order, and the last one has no next`() async throws {
        let host = try await host("b", "a", "c")
        #expect(
            try await host.page(limit: 2).text
                == #"{"version":1,"items":[{"id":"b","text":""},{"id":"a","text":""}],"next":"a"}"#
        )
        #expect(try await host.page(after: "a", limit: 2).text == #"{"version":1,"items":[{"id":"c","text":""}]}"#)
        #expect(try await host.page(after: "c").text == #"{"version":1,"items":[]}"#)
        #expect(try await host.page(limit: 3).document.next == nil)
    }

    @Test func `a page ends early when its items are large`() async throws {
        let host = try await host()
        let text = String(repeating: "x", count: 700_000)
        for id in ["a", "b", "c"] { _ = try await host.put(#"{"id":"\#(id)","text":"\#(text)"}"#, under: id) }
        let page = try await host.page().document
        #expect(page.ids == ["a", "b"])
        #expect(page.next == "b")
        #expect(try await host.page(after: "b").document.ids == ["c"])
    }

    @Test func `a page after a removed item is refused`() async throws {
        let host = try await host("a")
        await expect(refusal: #"the item "x" no longer exists"#) { _ = try await host.page(after: "x") }
    }

    @Test func `unreadable items are counted and listed by identifier, and can be deleted`() async throws {
        try await storage.collection("notes").commit([.put(key: "bad", document: Array("{".utf8))])
        let host = try await host("good")
        #expect(try await host.page().text == #"{"version":1,"items":[{"id":"good","text":""}],"damaged":1}"#)
        await expect(refusal: #"the item "bad" cannot be read"#) { _ = try await host.item("bad") }
        #expect(try await host.remove("bad").outcome.removed == 1)
        await expect(refusal: #"there is no item "bad""#) { _ = try await host.item("bad") }
        // The list has changed, so that it has another version.
        #expect(try await host.page().text == #"{"version":2,"items":[{"id":"good","text":""}]}"#)
        #expect(try await host.feed().take(joining: .after(1)).first.lines == ["remove 2"])
    }

    @Test func `requests wait for the load, and each fails if the load fails`() async throws {
        storage.failRead(.corrupt(detail: "torn"))
        storage.hold()
        let host = SharedResource("notes", Store<Note>.loading(storage)).host
        let page = Task { try await host.page().text }
        storage.release()
        await expect(refusal: "the stored collection is damaged: torn; restore it from a backup") {
            _ = try await page.value
        }
    }

    @Test func `after a commit with an unknown outcome no request gets the earlier items`() async throws {
        let host = try await host("a")
        storage.failRead(.unavailable(detail: "power"))
        storage.failCommit(.indeterminate(detail: "power"), isWritten: true)
        await #expect(throws: SharedError.self) { _ = try await host.put(#"{"id":"b","text":""}"#, under: "b") }
        await expect(refusal: "storage is unavailable: power") { _ = try await host.page() }
        _ = try await host.put(#"{"id":"c","text":""}"#, under: "c")
        #expect(try await ids(host) == ["a", "b", "c"])
    }

    // MARK: - Changing

    @Test func `a put item is added, or replaces the item with its identifier`() async throws {
        let host = try await host("a", "b")
        let replaced = try await host.put(#"{"id":"a","text":"1"}"#, under: "a")
        #expect(replaced.outcome.line == "v2 +0 =1 -0")
        let new = try await host.insert(#"{"id":"c","text":""}"#)
        #expect(new.outcome.line == "v3 +1 =0 -0")
        #expect(new.item?.id == "c")
        #expect(try await ids(host) == ["a", "b", "c"])
        #expect(try await Store.lines(in: storage) == ["a=1", "b", "c"])
    }

    @Test func `if an array repeats an identifier, its last value is stored at its first position`() async throws {
        let host = try await host()
        let answer = try await host.insert(#"[{"id":"a","text":"1"},{"id":"b","text":""},{"id":"a","text":"2"}]"#)
        #expect(answer.outcome.line == "v1 +2 =0 -0")
        #expect(answer.item == nil)
        #expect(try await Store.lines(in: storage) == ["a=2", "b"])
    }

    @Test(arguments: ["", ".", "..", "events", "operations", "a\\u0000", String(repeating: "x", count: 1_025)])
    func `an identifier that cannot be in a URL is refused`(_ id: String) async throws {
        let host = try await host()
        await #expect(throws: SharedError.self) { _ = try await host.insert(#"[{"id":"\#(id)","text":""}]"#) }
        #expect(try await ids(host).isEmpty)
    }

    @Test func `an item is put under its own identifier only`() async throws {
        let host = try await host()
        await expect(
            refusal: #"the item's identifier is "b", and the path's "a"; send the item to its own path"#
        ) { _ = try await host.put(#"{"id":"b","text":""}"#, under: "a") }
    }

    @Test func `the removal of an unknown item changes nothing and sends no event`() async throws {
        let host = try await host("a")
        let feed = try await host.feed()
        await expect(refusal: #"there is no item "x""#) { _ = try await host.remove("x") }
        #expect(try feed.take(joining: nil).events.isEmpty)
        #expect(try await host.page().version == 1)
    }

    @Test func `E-16: a removal and the insert after it are one event, unless the removal is of a single item`()
        async throws
    {
        let host = try await host("a", "b")
        let feed = try await host.feed()
        _ = try await host.perform(#"{"operations":[{"remove":["a","x"]},{"insert":[{"id":"c","text":""}]}]}"#)
        _ = try await host.perform(#"{"operations":[{"remove":"b"},{"insert":{"id":"d","text":""}}]}"#)
        _ = try await host.perform(#"{"operations":["removeAll",{"insert":[{"id":"e","text":""}]},{"removeAll":{}}]}"#)
        let lines = try feed.take(joining: nil).events.map { "\($0.name) \($0.document.ids)" }
        #expect(
            lines == [
                #"insert ["c"]"#, #"remove ["b"]"#, #"insert ["d"]"#, #"insert ["e"]"#, #"remove ["e"]"#,
            ]
        )
        // One commit stored the first items, and each chain is one commit.
        #expect(storage.commits.count == 4)
        #expect(try await Store.lines(in: storage) == [])
    }

    @Test(arguments: [
        #"{"operations":[{"insert":[{"id":"b","text":""}]},{"insert":[{"id":"c"}]}]}"#,
        #"{"operations":[{"insert":[{"id":"b","text":""}]},{"clear":{}}]}"#,
        #"{"operations":[{"insert":[{"id":"b","text":""}],"removeAll":{}}]}"#,
        #"{"operations":[{"insert":[{"id":"b","text":""}]}]} x"#, #"{"operations":{}}"#, #"{}"#,
        #"{"operations":[{}]}"#,
    ])
    func `a chain with any error changes nothing`(_ body: String) async throws {
        let host = try await host("a")
        await #expect(throws: SharedError.self) { _ = try await host.perform(body) }
        #expect(try await ids(host) == ["a"])
        #expect(storage.commits.count == 1)
    }

    @Test func `E-04: clients may write a UUID in lower case`() async throws {
        let store = try await Store<Token>(storage: storage.collection("tokens"))
        let host = SharedResource("tokens", store).host
        let (upper, lower) = ("4A68C0DE-0000-4000-8000-000000000001", "4a68c0de-0000-4000-8000-000000000001")
        #expect(try await host.put(#"{"id":"\#(lower)"}"#, under: lower).outcome.line == "v1 +1 =0 -0")
        #expect(try await host.put(#"{"id":"\#(upper)"}"#, under: upper).outcome.line == "v2 +0 =1 -0")
        #expect(try await host.item(lower).tag == host.item(upper).tag)
        #expect(try await host.page(after: lower).document.ids.isEmpty)
        #expect(try await host.perform(#"{"operations":[{"remove":["\#(lower)"]}]}"#).outcome.removed == 1)
        await expect(refusal: #"there is no item "\#(upper)""#) { _ = try await host.remove(lower) }
    }

    @Test func `an unreadable item meets no condition, and can be replaced without one`() async throws {
        try await storage.collection("notes").commit([.put(key: "bad", document: Array("{".utf8))])
        let host = try await host()
        let body = #"{"id":"bad","text":""}"#
        for condition in [ItemCondition(noneMatch: .any), ItemCondition(match: .any)] {
            await expect(refusal: #"the item "bad" cannot be read"#) {
                _ = try await host.put(body, under: "bad", if: condition)
            }
        }
        #expect(try await host.put(body, under: "bad").outcome.inserted == 1)
    }

    // MARK: - Conditions

    @Test func `a condition is checked after all earlier requests are done`() async throws {
        let host = try await host()
        storage.hold()
        let first = Task { try await host.put(#"{"id":"a","text":"1"}"#, under: "a") }
        await storage.waitForCommits(1)
        let second = Task {
            try await host.put(#"{"id":"a","text":"2"}"#, under: "a", if: ItemCondition(noneMatch: .any))
        }
        storage.release()
        _ = try await first.value
        await expect(refusal: "the item does not meet the condition") { _ = try await second.value }
        #expect(try await Store.lines(in: storage) == ["a=1"])
    }

    @Test func `of many conditional writes with one tag exactly one is accepted`() async throws {
        let host = try await host("a")
        let tag = try await host.item("a").tag
        let taken = await withTaskGroup { tasks in
            for number in 0..<20 {
                tasks.addTask {
                    let body = #"{"id":"a","text":"\#(number)"}"#
                    return (try? await host.put(body, under: "a", if: ItemCondition(match: .some([tag])))) != nil
                }
            }
            return await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(taken == 1)
    }

    @Test func `a tag depends on the item's content, and is the same after a restart`() async throws {
        let tag = try await host("a").item("a").tag
        #expect(try await host().item("a").tag == tag)
        let host = try await host()
        let other = try await host.put(#"{"id":"a","text":"1"}"#, under: "a", if: ItemCondition(match: .some([tag])))
        #expect(other.item?.tag != tag)
        let back = try await host.put(#"{"text":"","id":"a"}"#, under: "a")
        #expect(back.item?.tag == tag)
    }

    @Test func `versions are a condition on the whole store`() async throws {
        let host = try await host("a")
        await expect(refusal: "the current version is 1") { _ = try await host.removeAll(expected: [0, 2]) }
        #expect(try await host.removeAll(expected: [1, 2]).outcome.removed == 1)
        await expect(refusal: "the current version is 2") { _ = try await host.insert("[]", expected: []) }
    }

    // MARK: - Bounds

    @Test func `a store has a limit of bytes, and removals and replacements make room`() async throws {
        // An item without text takes 21 bytes with its key.
        let limits = StoreLimits(bytesMax: 44)
        let store = try await Store<Note>(storage: storage.collection("notes"), limits: limits)
        try await store.insert([Note("a"), Note("b")])
        await #expect(throws: StoreError.full(limitBytes: 44)) { try await store.insert(Note("c")) }
        try await store.insert(Note("a", "1"))
        await #expect(throws: StoreError.full(limitBytes: 44)) { try await store.insert(Note("a", "123")) }
        try await store.remove([Note("b")]).insert(Note("c")).run()
        #expect(try await Store.lines(in: storage) == ["a=1", "c"])
        let again = try await Store<Note>(storage: storage.collection("notes"), limits: limits)
        await #expect(throws: StoreError.full(limitBytes: 44)) { try await again.insert(Note("d")) }
        try await again.removeAll()
        try await again.insert([Note("d"), Note("e")])
        #expect(again.items.lines == ["d", "e"])
    }

    @Test func `inserts that are not committed yet are part of the store's bytes, each once`() async throws {
        let store = try await Store<Note>(storage: storage.collection("notes"), limits: StoreLimits(bytesMax: 50))
        storage.hold()
        let tasks = ["a", "b", "c"].map { id in Task { try await store.insert(Note(id)) } }
        while store.requestCount < 3 { await Task.yield() }
        storage.release()
        var failures = 0
        for task in tasks {
            do { try await task.value } catch StoreError.full { failures += 1 }
        }
        #expect(failures == 1)
        #expect(store.items.count == 2)
    }
}
