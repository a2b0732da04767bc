// The requirements of every item storage engine: one list of checks for all of them.

public import RivuletStores
public import Testing

/// One check of the contract of ``ItemStorage``.
public struct ItemStorageCheck: Sendable, CustomTestStringConvertible {
    /// The requirement as a sentence.
    public let testDescription: String
    /// Runs the check on an engine that is open and empty.
    public let run: @Sendable (any ItemStorage) async throws -> Void

    init(_ testDescription: String, _ run: @escaping @Sendable (any ItemStorage) async throws -> Void) {
        self.testDescription = testDescription
        self.run = run
    }
}

/// The checks that every engine passes.
public enum ItemStorageConformance {
    /// The most items of a collection that engines under test allow.
    public static let itemsMax = 8

    /// All checks.
    public static let checks = [
        ItemStorageCheck("a collection that was never written is empty") { storage in
            let contents = try await storage.collection("notes").contents()
            #expect(contents == StoredCollection())
        },
        ItemStorageCheck("documents are in the order in which their keys were first put") { storage in
            let notes = storage.collection("notes")
            try await notes.commit([.put(key: "b", document: [1]), .put(key: "a", document: [2])])
            try await notes.commit([.put(key: "c", document: []), .put(key: "b", document: [3])])
            let items = try await notes.contents().items
            #expect(items.map(\.key) == ["b", "a", "c"])
            #expect(items.map(\.document) == [[3], [2], []])
        },
        ItemStorageCheck("a key that is removed and put again is the last, also in one commit") { storage in
            let notes = storage.collection("notes")
            try await notes.commit(["a", "b", "c"].map { .put(key: $0, document: [0]) })
            try await notes.commit([.remove(key: "a"), .put(key: "a", document: [1]), .remove(key: "not there")])
            #expect(try await notes.contents().items.map(\.key) == ["b", "c", "a"])
        },
        ItemStorageCheck("removing all leaves other collections alone") { storage in
            let (notes, drafts) = (storage.collection("notes"), storage.collection("drafts"))
            try await notes.commit([.put(key: "a", document: [1])])
            try await drafts.commit([.put(key: "a", document: [2])])
            try await notes.commit([.removeAll, .put(key: "z", document: [3])])
            #expect(try await notes.contents().items.map(\.key) == ["z"])
            #expect(try await drafts.contents().items.map(\.document) == [[2]])
        },
        ItemStorageCheck("a commit beyond the limit changes nothing") { storage in
            let notes = storage.collection("notes")
            try await notes.commit([.put(key: "first", document: [1])])
            let many = (0..<Self.itemsMax).map { ItemChange.put(key: "\($0)", document: []) }
            await #expect(throws: ItemStorageError.tooMany(limit: Self.itemsMax)) {
                try await notes.commit([.remove(key: "nothing"), .put(key: "first", document: [2])] + many)
            }
            #expect(try await notes.contents().items.map(\.document) == [[1]])
        },
        ItemStorageCheck("keys and names are any text") { storage in
            let texts = [
                "", "../../etc/passwd", "é", "e\u{301}", "a/b", "a\0b", String(repeating: "k", count: 1_000), "🙂",
            ]
            let odd = storage.collection("../é/\0")
            try await odd.commit(texts.map { .put(key: $0, document: Array($0.utf8)) })
            let items = try await odd.contents().items
            #expect(items.map { Array($0.key.utf8) } == texts.map { Array($0.utf8) })
            #expect(items.map(\.document) == texts.map { Array($0.utf8) })
            try await odd.commit(texts.dropFirst().map { .remove(key: $0) })
            #expect(try await odd.contents().items.map(\.key) == [""])
        },
        ItemStorageCheck("a key that a commit puts twice has its last document, at the position of its first put") {
            storage in
            let notes = storage.collection("notes")
            try await notes.commit([.put(key: "a", document: [1]), .put(key: "b", document: []), .remove(key: "b")])
            try await notes.commit([
                .put(key: "b", document: [2]), .put(key: "a", document: [3]), .put(key: "b", document: [4]),
            ])
            let items = try await notes.contents().items
            #expect(items.map(\.key) == ["a", "b"])
            #expect(items.map(\.document) == [[3], [4]])
        },
        ItemStorageCheck("the limit applies to the end of a commit, not to its steps") { storage in
            let notes = storage.collection("notes")
            let puts = (0..<Self.itemsMax).map { ItemChange.put(key: "\($0)", document: []) }
            try await notes.commit(puts)
            try await notes.commit(puts)
            try await notes.commit([.put(key: "new", document: []), .remove(key: "0")])
            try await notes.commit([.remove(key: "new"), .put(key: "new", document: [1]), .remove(key: "none")])
            await #expect(throws: ItemStorageError.tooMany(limit: Self.itemsMax)) {
                try await notes.commit([.remove(key: "0"), .put(key: "0", document: [])])
            }
            try await notes.commit([.removeAll] + puts)
            #expect(try await notes.contents().items.count == Self.itemsMax)
        },
        ItemStorageCheck("an empty commit and removals of unknown keys succeed") { storage in
            let notes = storage.collection("notes")
            try await notes.commit([])
            try await notes.commit([.remove(key: "a"), .removeAll])
            #expect(try await notes.contents() == StoredCollection())
        },
        ItemStorageCheck("commits are made in the order of their requests") { storage in
            await withCheckedContinuation { continuation in
                for turn in 0..<UInt8(100) {
                    storage.commit([.put(key: "a", document: [turn])], to: "notes") { result in
                        #expect(result.isSuccess)
                        if turn == 99 { continuation.resume() }
                    }
                }
            }
            let items = try await storage.collection("notes").contents().items
            #expect(items.map(\.document) == [[99]])
        },
        ItemStorageCheck("concurrent commits are all made") { storage in
            try await withThrowingTaskGroup { group in
                for turn in 0..<40 {
                    group.addTask { try await storage.collection("\(turn)").commit([.put(key: "a", document: [1])]) }
                }
                try await group.waitForAll()
            }
            for turn in 0..<40 { #expect(try await storage.collection("\(turn)").contents().items.count == 1) }
        },
    ]
}

extension Result where Success == Void {
    fileprivate var isSuccess: Bool {
        guard case .success = self else { return false }
        return true
    }
}
