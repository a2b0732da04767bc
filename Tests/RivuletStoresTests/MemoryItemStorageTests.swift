// Tests the reference implementation of the item storage contract.

import ItemStorageConformance
import RivuletStores
import Testing

@Suite struct MemoryItemStorageTests {
    @Test(arguments: ItemStorageConformance.checks)
    func `memory keeps the contract of item storage`(_ check: ItemStorageCheck) async throws {
        try await check.run(MemoryItemStorage(itemsMax: ItemStorageConformance.itemsMax) { 7 })
    }
    @Test func `the limit applies to the items after a commit`() async throws {
        let notes = MemoryItemStorage(itemsMax: 2) { 7 }.collection("notes")
        func put(_ key: String) -> ItemChange { .put(key: key, document: []) }
        try await notes.commit([put("a"), put("b"), put("a")])
        try await notes.commit([.remove(key: "a"), .remove(key: "a"), put("c"), put("c")])
        try await notes.commit([.removeAll, put("b"), put("d"), .remove(key: "b"), .remove(key: "c"), put("b")])
        await #expect(throws: ItemStorageError.tooMany(limit: 2)) {
            try await notes.commit([.removeAll, put("x"), put("y"), put("z")])
        }
        await #expect(throws: ItemStorageError.tooMany(limit: 2)) {
            try await notes.commit([.remove(key: "x"), put("x")])
        }
        #expect(try await notes.contents().items.map(\.key) == ["d", "b"])
    }

    @Test func `removals in one commit are made in the order of the changes`() async throws {
        let notes = MemoryItemStorage { 7 }.collection("notes")
        try await notes.commit((0..<10).map { .put(key: "\($0)", document: []) })
        let removals = [1, 3, 5, 7, 9, 9, 11].map { ItemChange.remove(key: "\($0)") }
        try await notes.commit(removals + [.put(key: "3", document: [1])] + [.remove(key: "0")])
        #expect(try await notes.contents().items.map(\.key) == ["2", "4", "6", "8", "3"])
    }
}
