// Part of Rivulet. See README.md for the architecture.
// What every engine of the stored family has to do: one list of checks for all of them.

public import RivuletStores
public import Testing

/// One check of the contract of ``ItemStorage``.
public struct ItemStorageCheck: Sendable, CustomTestStringConvertible {
    /// What the engine does, as a sentence.
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
        ItemStorageCheck("documents come back in the order of their keys' first coming") { storage in
            let notes = storage.collection("notes")
            try await notes.commit([.put(key: "b", document: [1]), .put(key: "a", document: [2])])
            try await notes.commit([.put(key: "c", document: []), .put(key: "b", document: [3])])
            let items = try await notes.contents().items
            #expect(items.map(\.key) == ["b", "a", "c"])
            #expect(items.map(\.document) == [[3], [2], []])
        },
        ItemStorageCheck("a key that was removed and comes again stands last, in one commit too") { storage in
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
        },
    ]
}
