public import FoundationEssentials
public import Logging
import RivuletBase
import RivuletJSON

/// Values of one type in an ``ItemCollection``, read and written as JSON, and not kept in memory.
///
/// A value that cannot be read hides no other: where several are read it is left out, and reported to the logger.
/// Source: <Tests/Rows/Systems.md#e-30>.
public struct ObjectStorage<Object: StorableItem>: Sendable {
    /// Where the values are.
    public let storage: ItemCollection
    private let logger: Logger
    private let unreadablePlace = ItemDocument.unreadablePlace(of: Object.self)

    /// Values in a collection.
    public init(storage: ItemCollection, logger: Logger = Logger(label: "rivulet.store")) {
        self.storage = storage
        self.logger = logger
    }

    /// Stores a value under a key, in place of what was there; durable on return.
    ///
    /// - Throws: ``ItemStorageError`` or ``StoreError``.
    public func store(_ object: Object, forKey key: CacheKey) async throws {
        try await store([(key: key, object: object)])
    }

    /// Stores values under keys in one commit; durable on return.
    ///
    /// - Throws: ``ItemStorageError`` or ``StoreError``.
    public func store(_ objectsAndKeys: [(key: CacheKey, object: Object)]) async throws {
        if let unreadablePlace { throw StoreError.unreadable(type: "\(Object.self)", place: unreadablePlace) }
        let changes = try objectsAndKeys.map { key, object in
            ItemChange.put(key: key.rawValue, document: try ItemDocument.encode(object, key: key.rawValue))
        }
        try await storage.commit(changes)
    }

    /// The value under a key; nil when there is none.
    ///
    /// - Throws: ``ItemStorageError``, or `JSONError` when what lies there is no such value.
    public func object(forKey key: CacheKey) async throws -> Object? {
        guard let data = try await storage.read(key: key) else { return nil }
        return try ItemDocument.decode(Object.self, from: Array(data))
    }

    /// The values under keys, in their order; a key without one is left out.
    ///
    /// - Throws: what keeps the engine from reading.
    public func objects(forKeys keys: [CacheKey]) async throws(ItemStorageError) -> [Object] {
        try await objectsAndKeys(keys: keys).map(\.object)
    }

    /// The values under keys, with them and in their order; a key without one is left out.
    ///
    /// - Throws: what keeps the engine from reading.
    public func objectsAndKeys(keys: [CacheKey]) async throws(ItemStorageError) -> [(key: CacheKey, object: Object)] {
        readable(try await storage.readDataAndKeys(keys: keys))
    }

    /// All values, in the order in which their keys first came.
    ///
    /// - Throws: what keeps the engine from reading.
    public func allObjects() async throws(ItemStorageError) -> [Object] { try await allObjectsAndKeys().map(\.object) }

    /// All values with their keys, in the order in which these first came.
    ///
    /// - Throws: what keeps the engine from reading.
    public func allObjectsAndKeys() async throws(ItemStorageError) -> [(key: CacheKey, object: Object)] {
        readable(try await storage.readAllDataAndKeys())
    }

    private func readable(_ dataAndKeys: [(key: CacheKey, data: Data)]) -> [(key: CacheKey, object: Object)] {
        dataAndKeys.compactMap { key, data in
            do throws(JSONError) {
                return (key, try ItemDocument.decode(Object.self, from: Array(data)))
            } catch {
                logger.error(
                    "an object cannot be read; it stays in the storage and is left out",
                    metadata: ["store": "\(storage.name)", "error": "\(LogText.of(error))"]
                )
                return nil
            }
        }
    }

    /// Lets go of the value under a key, if there is one.
    ///
    /// - Throws: why nothing was changed, or `indeterminate`.
    public func removeObject(forKey key: CacheKey) async throws(ItemStorageError) { try await storage.remove(key: key) }

    /// Lets go of the values under keys, in one commit.
    ///
    /// - Throws: why nothing was changed, or `indeterminate`.
    public func removeObject(forKeys keys: [CacheKey]) async throws(ItemStorageError) {
        try await storage.remove(keys: keys)
    }

    /// Lets go of all values, also of those that cannot be read.
    ///
    /// - Throws: why nothing was changed, or `indeterminate`.
    public func removeAllObjects() async throws(ItemStorageError) { try await storage.removeAllData() }

    /// How many keys there are.
    ///
    /// - Throws: what keeps the engine from reading.
    public func keyCount() async throws(ItemStorageError) -> Int { try await storage.keyCount() }

    /// All keys, in the order in which they first came.
    ///
    /// - Throws: what keeps the engine from reading.
    public func allKeys() async throws(ItemStorageError) -> [CacheKey] { try await storage.allKeys() }

    /// When the key came; nil when there is none.
    ///
    /// - Throws: what keeps the engine from reading.
    public func createdAt(forKey key: CacheKey) async throws(ItemStorageError) -> Date? {
        try await storage.createdAt(key: key)
    }

    /// When the value under the key was written last; nil when there is none.
    ///
    /// - Throws: what keeps the engine from reading.
    public func updatedAt(forKey key: CacheKey) async throws(ItemStorageError) -> Date? {
        try await storage.updatedAt(key: key)
    }
}
