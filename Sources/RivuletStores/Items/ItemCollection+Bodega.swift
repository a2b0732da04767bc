// This file implements the operations of Bodega's storage engines.

public import FoundationEssentials
import RivuletBase

/// Each of these operations is one read of the whole collection, or one commit.
///
/// Writes are durable on return.
///
/// Source: <Tests/Rows/Systems.md#e-26>.
extension ItemCollection {
    /// Stores data under a key, and replaces earlier data.
    ///
    /// - Throws: The reason that nothing was changed, or `indeterminate`.
    public func write(_ data: Data, key: CacheKey) async throws(ItemStorageError) {
        try await write([(key: key, data: data)])
    }

    /// Stores data under keys in one commit.
    ///
    /// If the list has a key twice, the last data is stored.
    ///
    /// - Throws: The reason that nothing was changed, or `indeterminate`.
    public func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws(ItemStorageError) {
        try await commit(dataAndKeys.map { .put(key: $0.key.rawValue, document: Array($0.data)) })
    }

    /// Returns the data under a key; nil if there is none, or if it is damaged.
    ///
    /// - Throws: The error that prevents the read.
    public func read(key: CacheKey) async throws(ItemStorageError) -> Data? { try await read(keys: [key]).first }

    /// Returns the data under keys, in the order of the keys.
    ///
    /// Keys without data are omitted.
    ///
    /// - Throws: The error that prevents the read.
    public func read(keys: [CacheKey]) async throws(ItemStorageError) -> [Data] {
        try await readDataAndKeys(keys: keys).map(\.data)
    }

    /// Returns the data under keys, with the keys and in their order.
    ///
    /// Keys without data are omitted.
    ///
    /// - Throws: The error that prevents the read.
    public func readDataAndKeys(keys: [CacheKey]) async throws(ItemStorageError) -> [(key: CacheKey, data: Data)] {
        let items = try await itemsByKey()
        return keys.compactMap { key in items[key.itemKey].map { (key: key, data: Data($0.document)) } }
    }

    /// Returns all stored data, in the order in which the keys were first stored.
    ///
    /// - Throws: The error that prevents the read.
    public func readAllData() async throws(ItemStorageError) -> [Data] {
        try await contents().items.map { Data($0.document) }
    }

    /// Returns all stored data with its keys, in the order in which the keys were first stored.
    ///
    /// - Throws: The error that prevents the read.
    public func readAllDataAndKeys() async throws(ItemStorageError) -> [(key: CacheKey, data: Data)] {
        try await contents().items.map { (key: CacheKey(verbatim: $0.key), data: Data($0.document)) }
    }

    /// Removes the data under a key, if there is any.
    ///
    /// - Throws: The reason that nothing was changed, or `indeterminate`.
    public func remove(key: CacheKey) async throws(ItemStorageError) { try await remove(keys: [key]) }

    /// Removes the data under keys, in one commit.
    ///
    /// - Throws: The reason that nothing was changed, or `indeterminate`.
    public func remove(keys: [CacheKey]) async throws(ItemStorageError) {
        try await commit(keys.map { .remove(key: $0.rawValue) })
    }

    /// Removes all data, also damaged data.
    ///
    /// - Throws: The reason that nothing was changed, or `indeterminate`.
    public func removeAllData() async throws(ItemStorageError) { try await commit([.removeAll]) }

    /// Returns true if there is data under a key.
    ///
    /// - Throws: The error that prevents the read.
    public func keyExists(_ key: CacheKey) async throws(ItemStorageError) -> Bool {
        try await !keysExist([key]).isEmpty
    }

    /// Returns the given keys that have data, in the given order.
    ///
    /// - Throws: The error that prevents the read.
    public func keysExist(_ keys: [CacheKey]) async throws(ItemStorageError) -> [CacheKey] {
        let items = try await itemsByKey()
        return keys.filter { items[$0.itemKey] != nil }
    }

    /// Returns the number of keys.
    ///
    /// - Throws: The error that prevents the read.
    public func keyCount() async throws(ItemStorageError) -> Int { try await contents().items.count }

    /// Returns all keys verbatim, in the order in which they were first stored.
    ///
    /// - Throws: The error that prevents the read.
    public func allKeys() async throws(ItemStorageError) -> [CacheKey] {
        try await contents().items.map { CacheKey(verbatim: $0.key) }
    }

    /// Returns the time at which the key was first stored; nil if there is no such key.
    ///
    /// - Throws: The error that prevents the read.
    public func createdAt(key: CacheKey) async throws(ItemStorageError) -> Date? {
        try await itemsByKey()[key.itemKey].map { Date(milliseconds: $0.created) }
    }

    /// Returns the time of the last write of the data under the key; nil if there is none.
    ///
    /// - Throws: The error that prevents the read.
    public func updatedAt(key: CacheKey) async throws(ItemStorageError) -> Date? {
        try await itemsByKey()[key.itemKey].map { Date(milliseconds: $0.updated) }
    }

    private func itemsByKey() async throws(ItemStorageError) -> [ByteText: StoredItem] {
        let items = try await contents().items
        return Dictionary(items.map { (ByteText($0.key), $0) }) { $1 }
    }
}

extension Date {
    /// Creates a date from milliseconds since 1970-01-01T00:00:00Z.
    fileprivate init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }
}
