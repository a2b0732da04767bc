public import FoundationEssentials
public import Logging
import RivuletBase
import RivuletJSON

/// Values of one type in an ``ItemCollection``, read and written as JSON, and not kept in memory.
///
/// A value that cannot be read does not affect the others. If several values are read, the unreadable value is
/// omitted and reported to the logger.
/// Source: <Tests/Rows/Systems.md#e-30>.
public struct ObjectStorage<Object: StorableItem>: Sendable {
    /// The collection with the values.
    public let storage: ItemCollection
    private let logger: Logger
    private let unreadablePath = ItemDocument.unreadablePath(of: Object.self)

    /// Creates the storage of values in a collection.
    public init(storage: ItemCollection, logger: Logger = Logger(label: "rivulet.store")) {
        self.storage = storage
        self.logger = logger
    }

    /// Stores a value under a key, and replaces an earlier value; durable on return.
    ///
    /// - Throws: ``ItemStorageError`` or ``StoreError``.
    public func store(_ object: Object, forKey key: CacheKey) async throws {
        try await store([(key: key, object: object)])
    }

    /// Stores values under keys in one commit; durable on return.
    ///
    /// - Throws: ``ItemStorageError`` or ``StoreError``.
    public func store(_ objectsAndKeys: [(key: CacheKey, object: Object)]) async throws {
        if let unreadablePath { throw StoreError.unreadable(type: "\(Object.self)", path: unreadablePath) }
        let changes = try objectsAndKeys.map { key, object in
            ItemChange.put(key: key.rawValue, document: try ItemDocument.encode(object, key: key.rawValue))
        }
        try await storage.commit(changes)
    }

    /// Returns the value under a key; nil if there is none.
    ///
    /// - Throws: ``ItemStorageError``, or `JSONError` if the stored document is not a value of this type.
    public func object(forKey key: CacheKey) async throws -> Object? {
        guard let data = try await storage.read(key: key) else { return nil }
        return try ItemDocument.decode(Object.self, from: Array(data))
    }

    /// Returns the values under keys, in the order of the keys.
    ///
    /// Keys without a value are omitted.
    ///
    /// - Throws: The error that prevents the read.
    public func objects(forKeys keys: [CacheKey]) async throws(ItemStorageError) -> [Object] {
        try await objectsAndKeys(keys: keys).map(\.object)
    }

    /// Returns the values under keys, with the keys and in their order.
    ///
    /// Keys without a value are omitted.
    ///
    /// - Throws: The error that prevents the read.
    public func objectsAndKeys(keys: [CacheKey]) async throws(ItemStorageError) -> [(key: CacheKey, object: Object)] {
        readable(try await storage.readDataAndKeys(keys: keys))
    }

    /// Returns all values, in the order in which their keys were first stored.
    ///
    /// - Throws: The error that prevents the read.
    public func allObjects() async throws(ItemStorageError) -> [Object] { try await allObjectsAndKeys().map(\.object) }

    /// Returns all values with their keys, in the order in which the keys were first stored.
    ///
    /// - Throws: The error that prevents the read.
    public func allObjectsAndKeys() async throws(ItemStorageError) -> [(key: CacheKey, object: Object)] {
        readable(try await storage.readAllDataAndKeys())
    }

    private func readable(_ dataAndKeys: [(key: CacheKey, data: Data)]) -> [(key: CacheKey, object: Object)] {
        dataAndKeys.compactMap { key, data in
            do throws(JSONError) {
                return (key, try ItemDocument.decode(Object.self, from: Array(data)))
            } catch {
                logger.error(
                    "a stored object cannot be read; it stays in the storage, but the result does not have it",
                    metadata: ["store": "\(storage.name)", "error": "\(LogText.of(error))"]
                )
                return nil
            }
        }
    }

    /// Removes the value under a key, if there is one.
    ///
    /// - Throws: The reason that nothing was changed, or `indeterminate`.
    public func removeObject(forKey key: CacheKey) async throws(ItemStorageError) { try await storage.remove(key: key) }

    /// Removes the values under keys, in one commit.
    ///
    /// - Throws: The reason that nothing was changed, or `indeterminate`.
    public func removeObject(forKeys keys: [CacheKey]) async throws(ItemStorageError) {
        try await storage.remove(keys: keys)
    }

    /// Removes all values, also those that cannot be read.
    ///
    /// - Throws: The reason that nothing was changed, or `indeterminate`.
    public func removeAllObjects() async throws(ItemStorageError) { try await storage.removeAllData() }

    /// Returns the number of keys.
    ///
    /// - Throws: The error that prevents the read.
    public func keyCount() async throws(ItemStorageError) -> Int { try await storage.keyCount() }

    /// Returns all keys, in the order in which they were first stored.
    ///
    /// - Throws: The error that prevents the read.
    public func allKeys() async throws(ItemStorageError) -> [CacheKey] { try await storage.allKeys() }

    /// Returns the time at which the key was first stored; nil if there is no such key.
    ///
    /// - Throws: The error that prevents the read.
    public func createdAt(forKey key: CacheKey) async throws(ItemStorageError) -> Date? {
        try await storage.createdAt(key: key)
    }

    /// Returns the time of the last write of the value under the key; nil if there is none.
    ///
    /// - Throws: The error that prevents the read.
    public func updatedAt(forKey key: CacheKey) async throws(ItemStorageError) -> Date? {
        try await storage.updatedAt(key: key)
    }
}
