// Owns the operations of Bodega's storage engines.

public import FoundationEssentials

/// All of these are made of one read of the whole collection, or one commit. Writes are durable on return.
///
/// Source: <Tests/Rows/Systems.md#e-26>.
extension ItemCollection {
    /// Stores data under a key, in place of what was there.
    ///
    /// - Throws: why nothing was changed, or `indeterminate`.
    public func write(_ data: Data, key: CacheKey) async throws(ItemStorageError) {
        try await write([(key: key, data: data)])
    }

    /// Stores data under keys in one commit; of several under one key the last counts.
    ///
    /// - Throws: why nothing was changed, or `indeterminate`.
    public func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws(ItemStorageError) {
        try await commit(dataAndKeys.map { .put(key: $0.key.rawValue, document: Array($0.data)) })
    }

    /// What is stored under a key; nil when there is nothing, or when it is damaged.
    ///
    /// - Throws: what keeps the engine from reading.
    public func read(key: CacheKey) async throws(ItemStorageError) -> Data? { try await read(keys: [key]).first }

    /// What is stored under keys, in their order; a key under which there is nothing is left out.
    ///
    /// - Throws: what keeps the engine from reading.
    public func read(keys: [CacheKey]) async throws(ItemStorageError) -> [Data] {
        try await readDataAndKeys(keys: keys).map(\.data)
    }

    /// What is stored under keys, with them and in their order; a key under which there is nothing is left out.
    ///
    /// - Throws: what keeps the engine from reading.
    public func readDataAndKeys(keys: [CacheKey]) async throws(ItemStorageError) -> [(key: CacheKey, data: Data)] {
        let items = try await itemsByKey()
        return keys.compactMap { key in items[key.itemKey].map { (key: key, data: Data($0.document)) } }
    }

    /// Everything that is stored, in the order in which the keys first came.
    ///
    /// - Throws: what keeps the engine from reading.
    public func readAllData() async throws(ItemStorageError) -> [Data] {
        try await contents().items.map { Data($0.document) }
    }

    /// Everything that is stored with its key, in the order in which the keys first came.
    ///
    /// - Throws: what keeps the engine from reading.
    public func readAllDataAndKeys() async throws(ItemStorageError) -> [(key: CacheKey, data: Data)] {
        try await contents().items.map { (key: CacheKey(verbatim: $0.key), data: Data($0.document)) }
    }

    /// Lets go of what is stored under a key, if anything is.
    ///
    /// - Throws: why nothing was changed, or `indeterminate`.
    public func remove(key: CacheKey) async throws(ItemStorageError) { try await remove(keys: [key]) }

    /// Lets go of what is stored under keys, in one commit.
    ///
    /// - Throws: why nothing was changed, or `indeterminate`.
    public func remove(keys: [CacheKey]) async throws(ItemStorageError) {
        try await commit(keys.map { .remove(key: $0.rawValue) })
    }

    /// Lets go of everything, also of what is damaged.
    ///
    /// - Throws: why nothing was changed, or `indeterminate`.
    public func removeAllData() async throws(ItemStorageError) { try await commit([.removeAll]) }

    /// Whether something is stored under a key.
    ///
    /// - Throws: what keeps the engine from reading.
    public func keyExists(_ key: CacheKey) async throws(ItemStorageError) -> Bool {
        try await !keysExist([key]).isEmpty
    }

    /// The keys among these under which something is stored, in their order.
    ///
    /// - Throws: what keeps the engine from reading.
    public func keysExist(_ keys: [CacheKey]) async throws(ItemStorageError) -> [CacheKey] {
        let items = try await itemsByKey()
        return keys.filter { items[$0.itemKey] != nil }
    }

    /// How many keys there are.
    ///
    /// - Throws: what keeps the engine from reading.
    public func keyCount() async throws(ItemStorageError) -> Int { try await contents().items.count }

    /// All keys, in the order in which they first came, verbatim.
    ///
    /// - Throws: what keeps the engine from reading.
    public func allKeys() async throws(ItemStorageError) -> [CacheKey] {
        try await contents().items.map { CacheKey(verbatim: $0.key) }
    }

    /// When the key came; nil when there is none.
    ///
    /// - Throws: what keeps the engine from reading.
    public func createdAt(key: CacheKey) async throws(ItemStorageError) -> Date? {
        try await itemsByKey()[key.itemKey].map { Date(milliseconds: $0.created) }
    }

    /// When what is stored under the key was written last; nil when there is nothing.
    ///
    /// - Throws: what keeps the engine from reading.
    public func updatedAt(key: CacheKey) async throws(ItemStorageError) -> Date? {
        try await itemsByKey()[key.itemKey].map { Date(milliseconds: $0.updated) }
    }

    private func itemsByKey() async throws(ItemStorageError) -> [ItemKey: StoredItem] {
        let items = try await contents().items
        return Dictionary(items.map { (ItemKey($0.key), $0) }) { $1 }
    }
}

extension Date {
    /// A time in milliseconds since 1970-01-01T00:00:00Z.
    fileprivate init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }
}
