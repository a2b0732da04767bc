// The requirements of every engine that stores items durably.

public import RivuletStores
import SeededRandom
import Synchronization
public import Testing

/// A location, such as a folder, at which engines are opened one after the other.
public struct ItemStoragePlace: Sendable {
    /// The clock of all engines of the location.
    public let time = ItemTime()
    private let reopen: @Sendable (ItemTime) async throws -> any ItemStorage

    /// Creates a location.
    ///
    /// `reopen` closes the earlier engine, if there is one, and opens another.
    public init(reopen: @escaping @Sendable (ItemTime) async throws -> any ItemStorage) {
        self.reopen = reopen
    }

    /// Closes the earlier engine, and opens an engine with at most `ItemStorageConformance.itemsMax` items.
    public func open() async throws -> any ItemStorage { try await reopen(time) }
}

/// Milliseconds since 1970 that only a test advances.
public final class ItemTime: Sendable {
    private let value = Atomic<Int64>(1)

    /// Creates a clock that shows 1.
    public init() {}

    /// The present time.
    public var now: Int64 {
        get { value.load(ordering: .sequentiallyConsistent) }
        set { value.store(newValue, ordering: .sequentiallyConsistent) }
    }
}

/// One check of engines that are closed and reopened.
public struct ItemStorageLivesCheck: Sendable, CustomTestStringConvertible {
    /// The requirement as a sentence.
    public let testDescription: String
    /// Runs the check on an empty location.
    public let run: @Sendable (ItemStoragePlace) async throws -> Void

    init(_ testDescription: String, _ run: @escaping @Sendable (ItemStoragePlace) async throws -> Void) {
        self.testDescription = testDescription
        self.run = run
    }
}

extension ItemStorageConformance {
    /// The checks of engines that store items durably.
    public static let lives = [
        ItemStorageLivesCheck("items are read after a restart, in their order and with their times") { place in
            let changes = [ItemChange.put(key: "b\0é", document: [1]), .put(key: "", document: [])]
            try await place.open().collection("a/b").commit(changes)
            place.time.now = 5
            try await place.open().collection("a/b").commit([
                .put(key: "c", document: [2]), .put(key: "b\0é", document: [3]),
            ])
            let expected = [
                StoredItem(key: "b\0é", document: [3], created: 1, updated: 5),
                StoredItem(key: "", document: [], created: 1, updated: 1),
                StoredItem(key: "c", document: [2], created: 5, updated: 5),
            ]
            #expect(try await place.open().collection("a/b").contents().items == expected)
        },
        ItemStorageLivesCheck("a removed item is absent after a restart, and new if it is put again") { place in
            let storage = try await place.open()
            try await storage.collection("a").commit(["1", "2", "3"].map { .put(key: $0, document: []) })
            try await storage.collection("a").commit([.remove(key: "3"), .remove(key: "1")])
            place.time.now = 2
            let next = try await place.open()
            #expect(try await next.collection("a").contents().items.map(\.key) == ["2"])
            try await next.collection("a").commit([.put(key: "1", document: []), .removeAll])
            try await next.collection("a").commit([.put(key: "3", document: [1]), .put(key: "2", document: [1])])
            let items = try await place.open().collection("a").contents().items
            #expect(items.map(\.key) == ["3", "2"])
            #expect(items.map(\.created) == [2, 2])
        },
        ItemStorageLivesCheck("the limit includes the items of an earlier engine") { place in
            let puts = (0..<itemsMax).map { ItemChange.put(key: "\($0)", document: []) }
            try await place.open().collection("a").commit(puts)
            let storage = try await place.open()
            await #expect(throws: ItemStorageError.tooMany(limit: itemsMax)) {
                try await storage.collection("a").commit([.put(key: "more", document: [])])
            }
            try await storage.collection("a").commit(puts)
        },
    ]

    /// Makes random commits on engines of a location and on the reference, reopens at random, and compares the items.
    public static func runRandomProgram(seed: UInt64, on place: ItemStoragePlace, commits: Int = 150) async throws {
        var random = SeededGenerator(seed: seed)
        let time = place.time
        let reference = MemoryItemStorage(itemsMax: itemsMax) { time.now }
        var storage = try await place.open()
        for turn in 0..<commits {
            time.now += Int64.random(in: 0...3, using: &random)
            let name = ["a", "b", "é"].randomElement(using: &random) ?? ""
            let changes = (0..<Int.random(in: 0...5, using: &random)).map { _ in change(&random) }
            let expected = await result { try await reference.collection(name).commit(changes) }
            let found = await result { try await storage.collection(name).commit(changes) }
            try #require(found == expected, "seed \(seed), commit \(turn): \(changes)")
            if Int.random(in: 0..<10, using: &random) == 0 { storage = try await place.open() }
            let contents = try await storage.collection(name).contents()
            try #require(try await contents == reference.collection(name).contents(), "seed \(seed), commit \(turn)")
        }
    }

    private static func change(_ random: inout SeededGenerator) -> ItemChange {
        let key = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "é", "e\u{301}"].randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return .removeAll
        case 1...4: return .remove(key: key)
        default:
            let count = Int.random(in: 0...40, using: &random)
            return .put(key: key, document: (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        }
    }

    private static func result(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "made"
        } catch {
            return "\(error)"
        }
    }
}
