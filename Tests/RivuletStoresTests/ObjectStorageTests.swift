// Tests values of one type in a collection.

import Foundation
import InMemoryLogging
import Logging
import RivuletJSON
import RivuletStores
import StoreFixture
import Testing

@Suite struct ObjectStorageTests {
    private let collection = MemoryItemStorage { 5_000 }.collection("notes")
    private let log = InMemoryLogHandler()

    private var notes: ObjectStorage<Note> {
        ObjectStorage(storage: collection, logger: Logger(label: "test") { [log] _ in log })
    }

    @Test func `E-30: objects are stored and found under keys that are independent of their ids`() async throws {
        try await notes.store(Note("a"), forKey: CacheKey("1"))
        try await notes.store([(key: CacheKey("2"), object: Note("b")), (key: CacheKey("3"), object: Note("c"))])
        #expect(try await notes.object(forKey: CacheKey("1"))?.line == "a")
        #expect(try await notes.object(forKey: CacheKey("x")) == nil)
        #expect(try await notes.objects(forKeys: [CacheKey("3"), CacheKey("x"), CacheKey("1")]).lines == ["c", "a"])
        #expect(try await notes.objectsAndKeys(keys: [CacheKey("x"), CacheKey("2")]).map(\.key) == [CacheKey("2")])
        #expect(try await notes.allObjects().lines == ["a", "b", "c"])
        #expect(
            try await notes.allObjectsAndKeys().map { "\($0.key.rawValue) \($0.object.line)" } == ["1 a", "2 b", "3 c"]
        )
    }

    @Test func `E-30: a storage has a count, keys and dates, and removes one object, many or all`() async throws {
        for key in ["1", "2", "3", "4"] { try await notes.store(Note("a"), forKey: CacheKey(key)) }
        #expect(try await notes.keyCount() == 4)
        #expect(try await notes.createdAt(forKey: CacheKey("1")) == Date(timeIntervalSince1970: 5))
        #expect(try await notes.updatedAt(forKey: CacheKey("9")) == nil)
        try await notes.removeObject(forKey: CacheKey("1"))
        try await notes.removeObject(forKeys: [CacheKey("2"), CacheKey("x"), CacheKey("3")])
        #expect(try await notes.allKeys().map(\.rawValue) == ["4"])
        try await notes.removeAllObjects()
        #expect(try await notes.keyCount() == 0)
    }

    @Test func `E-30: an object that cannot be read hides no other and is reported`() async throws {
        try await notes.store(Note("a"), forKey: CacheKey("1"))
        try await collection.write(Data("[]".utf8), key: CacheKey("2"))
        try await notes.store(Note("c"), forKey: CacheKey("3"))
        #expect(try await notes.allObjects().lines == ["a", "c"])
        #expect(try await notes.objects(forKeys: [CacheKey("2"), CacheKey("3")]).lines == ["c"])
        #expect(log.entries.map(\.metadata) == Array(repeating: ["store": "notes", "error": "JSONError"], count: 2))
        await #expect(throws: JSONError.self) { try await notes.object(forKey: CacheKey("2")) }
        let measures = ObjectStorage<Measure>(storage: collection)
        await #expect(throws: StoreError.unrepresentable(key: "4")) {
            try await measures.store(Measure(id: "a", value: .infinity), forKey: CacheKey("4"))
        }
    }
}
