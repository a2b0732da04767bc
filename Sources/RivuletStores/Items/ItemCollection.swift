/// A named collection of documents, in the terms of Bodega's storage engines.
///
/// Source: <Tests/Rows/Systems.md#e-26>.
public struct ItemCollection: Sendable {
    /// The storage that has the collection.
    public let storage: any ItemStorage
    /// The name in the storage, any text.
    public let name: String

    /// Creates a collection of a storage.
    ///
    /// The collection need not exist in the storage yet.
    public init(_ name: String, in storage: any ItemStorage) {
        self.name = name
        self.storage = storage
    }
}

extension ItemStorage {
    /// Returns the collection with this name.
    public func collection(_ name: String) -> ItemCollection { ItemCollection(name, in: self) }
}

extension ItemCollection {
    /// Reads the whole collection.
    ///
    /// - Throws: The error that prevents the read.
    public func contents() async throws(ItemStorageError) -> StoredCollection {
        let result = await withCheckedContinuation { continuation in
            storage.items(of: name) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Makes changes in order, all or none; durable on return.
    ///
    /// - Throws: The reason that nothing was changed, or `indeterminate`.
    public func commit(_ changes: [ItemChange]) async throws(ItemStorageError) {
        let result = await withCheckedContinuation { continuation in
            storage.commit(changes, to: name) { continuation.resume(returning: $0) }
        }
        try result.get()
    }
}
