// Tests the operations of Bodega's storage engines.

import Foundation
import RivuletStores
import StoreFixture
import Synchronization
import Testing

@Suite struct ItemCollectionTests {
    /// Milliseconds that advance by one thousand at each read.
    private final class Clock: Sendable {
        private let now = Atomic<Int64>(0)
        func tick() -> Int64 { now.add(1_000, ordering: .relaxed).newValue }
    }

    private let clock = Clock()

    private func collection() -> ItemCollection {
        MemoryItemStorage { [clock] in clock.tick() }.collection("data")
    }

    private func data(_ text: String) -> Data { Data(text.utf8) }

    @Test func `E-26: data is written and read under one key or many`() async throws {
        let collection = collection()
        try await collection.write(data("1"), key: CacheKey("a"))
        try await collection.write([(key: CacheKey("b"), data: data("2")), (key: CacheKey("c"), data: Data())])
        try await collection.write(data("3"), key: CacheKey("a"))
        #expect(try await collection.read(key: CacheKey("a")) == data("3"))
        #expect(try await collection.read(key: CacheKey("x")) == nil)
        #expect(try await collection.read(keys: [CacheKey("c"), CacheKey("x"), CacheKey("a")]) == [Data(), data("3")])
        #expect(try await collection.readAllData() == [data("3"), data("2"), Data()])
        let all = try await collection.readAllDataAndKeys()
        #expect(all.map(\.key) == ["a", "b", "c"].map(CacheKey.init(verbatim:)))
        #expect(all.map(\.data) == [data("3"), data("2"), Data()])
    }

    @Test func `E-26: a missing key does not shift data to other keys`() async throws {
        let collection = collection()
        try await collection.write(data("2"), key: CacheKey("b"))
        let found = try await collection.readDataAndKeys(keys: ["a", "b", "c"].map { CacheKey($0) })
        #expect(found.map(\.key) == [CacheKey("b")])
        #expect(found.map(\.data) == [data("2")])
    }

    @Test func `E-26: one key, many or all are removed, and an unknown key is no error`() async throws {
        let collection = collection()
        let keys = ["a", "b", "c", "d", "e"].map { CacheKey($0) }
        try await collection.write(keys.map { (key: $0, data: data("x")) })
        try await collection.remove(key: CacheKey("a"))
        try await collection.remove(keys: [CacheKey("b"), CacheKey("x"), CacheKey("c")])
        #expect(try await collection.keysExist(keys) == [CacheKey("d"), CacheKey("e")])
        #expect(try await collection.keyExists(CacheKey("d")))
        #expect(try await !collection.keyExists(CacheKey("a")))
        #expect(try await collection.keyCount() == 2)
        #expect(try await collection.allKeys().map(\.rawValue) == ["d", "e"])
        try await collection.removeAllData()
        try await collection.removeAllData()
        #expect(try await collection.keyCount() == 0)
    }

    @Test func `E-26: the dates are exact, and a second write keeps the creation date`() async throws {
        let collection = collection()
        try await collection.write(data("1"), key: CacheKey("a"))
        try await collection.write([(key: CacheKey("a"), data: data("2"))])
        #expect(try await collection.createdAt(key: CacheKey("a")) == Date(timeIntervalSince1970: 1))
        #expect(try await collection.updatedAt(key: CacheKey("a")) == Date(timeIntervalSince1970: 2))
        #expect(try await collection.createdAt(key: CacheKey("x")) == nil)
        #expect(try await collection.updatedAt(key: CacheKey("x")) == nil)
    }

    @Test func `E-26, E-27: each kind of key finds the data under its text, also a store's items`() async throws {
        let collection = collection()
        try await Store<Note>(storage: collection).insert(Note("../x"))
        #expect(try await collection.keyExists(CacheKey("../x")))
        try await collection.remove(key: CacheKey(verbatim: "../x"))
        #expect(try await Store<Note>(storage: collection).items.isEmpty)
    }

    @Test func `E-26: the error of a failed read is thrown`() async throws {
        let storage = ScriptedItemStorage()
        storage.failRead(.closed)
        await #expect(throws: ItemStorageError.closed) { try await storage.collection("data").keyCount() }
    }
}
