// Checks that writes fail as often as a test requires, and the answers that a client gets.

import RivuletEngine
import RivuletJSON
import RivuletSessions
import RivuletStores
import RivuletTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct FaultyStorageTests {
    /// An app without effects, because a write of an effect would take the failure instead.
    private struct QuietApp: AppDefinition {
        let name = "basket"
        let defaultState = BasketApp().defaultState

        func reduce(into state: inout BasketApp.State, event: BasketEvent) throws {
            try BasketApp().reduce(into: &state, event: event)
        }
    }

    private let session = "/v1/apps/basket/sessions/s"

    @Test func `a write that storage refuses changes nothing, and the next write succeeds`() async throws {
        let storage = FaultyStorage()
        try await TestServer(QuietApp(), storage: { storage }).run { client in
            #expect(try await client.post("\(session)/events", json: ["add": 1]).status == 200)
            storage.failWrites(with: .full(detail: "no space"))
            let refused = try await client.post("\(session)/events", json: ["add": 1])
            #expect(refused.status == 507)
            #expect(try await client.get("\(session)/state/p/count").json() == 1)
            let taken = try await client.post("\(session)/events", json: ["add": 1])
            #expect(taken.status == 200)
            #expect(try await client.get("\(session)/state/p/count").json() == 2)
        }
    }

    @Test func `a write may be stored although it is reported as failed`() async throws {
        let storage = FaultyStorage()
        try storage.lifecycle.start()
        defer { storage.lifecycle.close() }
        let key = SessionKey(app: "basket", id: "s")
        storage.failWrites(with: .indeterminate(detail: "no answer"), isWritten: true)
        let created = await withCheckedContinuation { continuation in
            storage.log.create(key, epoch: "e", time: 0, snapshot: nil) { continuation.resume(returning: $0) }
        }
        #expect(throws: StorageError.indeterminate(detail: "no answer")) { try created.get() }
        let loaded = await withCheckedContinuation { continuation in
            storage.log.load(key) { continuation.resume(returning: $0) }
        }
        #expect(try loaded.get()?.head.epoch == "e")
    }

    @Test func `a failed commit of a store is stored or not, as the test requires`() async throws {
        let storage = FaultyStorage()
        let notes = storage.collection("notes")
        storage.failWrites(with: .full(detail: "no space"))
        await #expect(throws: ItemStorageError.full(detail: "no space")) {
            try await notes.commit([.put(key: "a", document: [1])])
        }
        #expect(try await notes.contents() == StoredCollection())
        storage.failWrites(with: .indeterminate(detail: "no answer"), isWritten: true)
        await #expect(throws: ItemStorageError.indeterminate(detail: "no answer")) {
            try await notes.commit([.put(key: "a", document: [2])])
        }
        try await notes.commit([.put(key: "b", document: [3])])
        #expect(try await notes.contents().items.map(\.document) == [[2], [3]])
    }
}
