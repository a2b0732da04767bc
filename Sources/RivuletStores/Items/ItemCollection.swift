/// A named collection of documents, in the words of Bodega's storage engines.
///
/// Source: <Tests/Rows/Systems.md#e-26>.
public struct ItemCollection: Sendable {
    /// Where it is kept.
    public let storage: any ItemStorage
    /// Its name there, any text.
    public let name: String

    /// A collection of a storage; it need not be there yet.
    public init(_ name: String, in storage: any ItemStorage) {
        self.name = name
        self.storage = storage
    }
}

extension ItemStorage {
    /// The collection of that name.
    public func collection(_ name: String) -> ItemCollection { ItemCollection(name, in: self) }
}

extension ItemCollection {
    /// Reads everything.
    ///
    /// - Throws: what keeps the engine from it.
    public func contents() async throws(ItemStorageError) -> StoredCollection {
        let result = await withCheckedContinuation { continuation in
            storage.items(of: name) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Makes changes in their order, all or none; durable on return.
    ///
    /// - Throws: why nothing was changed, or `indeterminate`.
    public func commit(_ changes: [ItemChange]) async throws(ItemStorageError) {
        let result = await withCheckedContinuation { continuation in
            storage.commit(changes, to: name) { continuation.resume(returning: $0) }
        }
        try result.get()
    }
}
