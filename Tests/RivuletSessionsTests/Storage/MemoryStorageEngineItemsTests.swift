// Checks that the engine in memory stores the items of stores beside its sessions.

import ItemStorageConformance
import RivuletSessions
import RivuletStores
import Testing

@Suite struct MemoryStorageEngineItemsTests {
    @Test(arguments: ItemStorageConformance.checks)
    func `keeps the contract of items, also before its start`(_ check: ItemStorageCheck) async throws {
        var limits = MemoryStorageLimits()
        limits.itemsMax = ItemStorageConformance.itemsMax
        try await check.run(MemoryStorageEngine(limits: limits))
    }

    @Test func `items have the times of the engine's clock`() async throws {
        let time = ItemTime()
        let notes = MemoryStorageEngine(clock: { time.now }).collection("notes")
        try await notes.commit([.put(key: "a", document: [1])])
        time.now = 5
        try await notes.commit([.put(key: "a", document: [2])])
        #expect(try await notes.contents().items == [StoredItem(key: "a", document: [2], created: 1, updated: 5)])
    }

    @Test func `refuses a document that is too large, and everything once it is closed`() async throws {
        var limits = MemoryStorageLimits()
        limits.documentBytesMax = 1
        let engine = MemoryStorageEngine(limits: limits)
        let notes = engine.collection("notes")
        await #expect(throws: ItemStorageError.tooLarge(limitBytes: 1)) {
            try await notes.commit([.put(key: "a", document: [1]), .put(key: "b", document: [1, 2])])
        }
        #expect(try await notes.contents() == StoredCollection())
        engine.close()
        await #expect(throws: ItemStorageError.closed) { try await notes.contents() }
        await #expect(throws: ItemStorageError.closed) { try await notes.commit([]) }
    }
}
