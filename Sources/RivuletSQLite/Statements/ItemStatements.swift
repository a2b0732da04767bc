import RivuletBase
internal import RivuletSessions
internal import RivuletStores

/// The writes to stores and values on one connection; each runs inside a transaction that the caller owns.
struct ItemStatements {
    private let limits: SQLiteStorageLimits
    private let sharedKeys: SharedKeys
    /// True if a damaged key is an error, because a replica must not store other documents than the other copies.
    private let isReplica: Bool
    private let path: String
    private let finder: CollectionFinder
    private let keysReader: StoredKeysReader
    private let lastNumber: SQLiteStatement
    private let insertCollection: SQLiteStatement
    private let insertItem: SQLiteStatement
    private let replaceItem: SQLiteStatement
    private let identityAt: SQLiteStatement
    private let deleteItem: SQLiteStatement
    private let deleteItems: SQLiteStatement

    /// The keys of collections, as of the last read or write of this connection; also valid inside the current
    /// transaction.
    private var collections: [ByteText: CollectionKeys] = [:]
    /// The number of keys in all these collections when the keys were last counted.
    private var keyCount = 0
    /// True if the current transaction replaces all collections.
    private var replacesAll = false
    /// True if a document was removed or replaced in the current transaction.
    private var removes = false
    /// The steps that undo the changes of keys in the current transaction; they are applied last step first.
    private var undo: [Undo] = []

    private enum Undo {
        case made(ByteText)
        /// The collection grew from this place on.
        case grown(CollectionKeys, Int64)
        case removed(Int64, of: UInt64, from: CollectionKeys)
        case all(of: CollectionKeys, KeyTable)
    }

    /// A row that exists.
    private struct Found {
        let rowID: Int64
        /// The time when the key was created; nil if the time is damaged.
        let created: Int64?
    }

    /// The maximum number of collections in a file; their numbers are the upper bits of places.
    static let collectionsMax: Int64 = 1 << (63 - ItemRow.arrivalBits) - 1

    init(
        _ connection: SQLiteConnection,
        limits: SQLiteStorageLimits,
        sharedKeys: SharedKeys,
        isReplica: Bool = false
    ) throws(SQLiteError) {
        self.limits = limits
        self.sharedKeys = sharedKeys
        self.isReplica = isReplica
        path = connection.path
        finder = try CollectionFinder(connection)
        keysReader = try StoredKeysReader(connection, limits: limits)
        lastNumber = try SQLiteStatement("SELECT coalesce(max(number), 0) FROM collection", on: connection)
        insertCollection = try SQLiteStatement(
            "INSERT INTO collection(number, name, crc) VALUES (?, ?, ?)",
            on: connection
        )
        insertItem = try SQLiteStatement(ItemRow.insertion, on: connection)
        replaceItem = try SQLiteStatement(ItemRow.replacement, on: connection)
        identityAt = try SQLiteStatement("SELECT created, checksum, key FROM item WHERE place = ?", on: connection)
        deleteItem = try SQLiteStatement("DELETE FROM item WHERE place = ?", on: connection)
        deleteItems = try SQLiteStatement("DELETE FROM item WHERE place >= ? AND place < ?", on: connection)
    }

    /// Makes all changes in their order, or makes none and returns the reason.
    ///
    /// `itemsMax` is the most documents of the collection; nil for the limit of this engine.
    mutating func commit(
        _ changes: [ItemChange],
        to name: String,
        time: Int64,
        itemsMax: Int? = nil
    ) throws(SQLiteError) -> Result<Void, ItemStorageError> {
        guard let collection = try collection(name, isMade: changes.contains(where: \.isPut)) else {
            return .success(())
        }
        let most = itemsMax ?? limits.itemsMax
        guard try canTake(changes, in: collection, itemsMax: most) else { return .failure(.tooMany(limit: most)) }
        undo.append(.grown(collection, collection.nextRowID))
        for change in changes {
            switch change {
            case .put(let key, let document): try put(key, document, in: collection, time: time)
            case .remove(let key): try remove(key, from: collection)
            case .removeAll: try removeAll(from: collection)
            }
        }
        return .success(())
    }

    // MARK: - The transaction's end

    /// Updates the state after a commit; returns true if a document was removed or replaced.
    mutating func didCommit() -> Bool {
        defer { removes = false }
        for case .grown(let collection, _) in undo {
            keyCount += collection.rowIDs.count - collection.counted
            collection.counted = collection.rowIDs.count
        }
        undo.removeAll(keepingCapacity: true)
        if keyCount > limits.keysRememberedMax || replacesAll { forget() }
        replacesAll = false
        return removes
    }

    /// Restores the state after a rollback.
    mutating func didRollBack() {
        (removes, replacesAll) = (false, false)
        for step in undo.reversed() {
            switch step {
            case .made(let name):
                collections[name] = nil
                sharedKeys.setKnown(name, to: false)
            case .removed(let rowID, let hash, let collection): collection.rowIDs.insert(rowID, of: hash)
            case .all(let collection, let rowIDs): collection.rowIDs = rowIDs
            case .grown: continue
            }
        }
        // This comes last: a key that was added and removed in this transaction was restored by the loop above.
        for case .grown(let collection, let rowID) in undo where collection.nextRowID > rowID {
            collection.rowIDs.removeRowIDs(from: rowID)
        }
        undo.removeAll(keepingCapacity: true)
    }

    /// Forgets all keys, because the current transaction replaces all collections.
    ///
    /// The keys are forgotten again after the commit, because the reader may read the old ones until then.
    mutating func willReplaceAll() {
        forget()
        (removes, replacesAll) = (true, true)
    }

    /// Forgets all keys, because they may be outdated or are too many.
    mutating func forget() {
        collections = [:]
        keyCount = 0
        undo = []
        sharedKeys.forget()
    }

    // MARK: - Collections

    /// Returns true if a commit to a collection need not read its keys.
    ///
    /// This is so if the keys are known, if another thread has read them, or if the collection does not exist.
    mutating func isReady(_ name: ByteText) throws(SQLiteError) -> Bool {
        if collections[name] != nil { return true }
        guard let number = try finder.number(of: name.text) else { return true }
        guard let keys = sharedKeys.take(name), keys.number == number, !isReplica || keys.areIdentified else {
            return false
        }
        remember(keys, of: name)
        return true
    }

    /// Returns a collection with its keys; nil if the collection does not exist and is not created.
    private mutating func collection(_ name: String, isMade: Bool) throws(SQLiteError) -> CollectionKeys? {
        let key = ByteText(name)
        if let collection = collections[key] { return collection }
        if let number = try finder.number(of: name) {
            sharedKeys.countWriterRead()
            let keys = try keysReader.keys(of: number)
            guard !isReplica || keys.areIdentified else { throw damage("the collection with the number \(number)") }
            return remember(keys, of: key)
        }
        guard isMade else { return nil }
        let keys = StoredKeys.Gathering(number: try insert(name), hashMask: limits.keyHashMask).keys
        undo.append(.made(key))
        return remember(keys, of: key)
    }

    @discardableResult
    private mutating func remember(_ keys: StoredKeys, of name: ByteText) -> CollectionKeys {
        let collection = CollectionKeys(keys)
        collections[name] = collection
        sharedKeys.setKnown(name, to: true)
        return collection
    }

    func insert(_ name: String) throws(SQLiteError) -> Int64 {
        defer { lastNumber.reset() }
        try lastNumber.step()
        let number = lastNumber.integer(0) + 1
        guard number <= Self.collectionsMax else {
            throw .refused(.full(detail: "the database has reached its limit of \(Self.collectionsMax) collections"))
        }
        defer { insertCollection.reset() }
        try insertCollection.bind(number, at: 1)
        try insertCollection.bind(name, at: 2)
        try insertCollection.bind(CollectionFinder.checksum(of: name, number), at: 3)
        try insertCollection.step()
        return number
    }
}

// MARK: - Items

extension ItemStatements {
    private mutating func put(
        _ key: String,
        _ document: [UInt8],
        in collection: CollectionKeys,
        time: Int64
    ) throws(SQLiteError) {
        let replaces = try unsafe key.utf8.span.bytes.withUnsafeBytes { (key) throws(SQLiteError) in
            try unsafe document.span.bytes.withUnsafeBytes { (document) throws(SQLiteError) in
                let hash = unsafe hash(of: key)
                let rowID: Int64
                let created: Int64
                let statement: SQLiteStatement
                if let found = try unsafe find(key, hash, in: collection) {
                    (rowID, created, statement) = (found.rowID, found.created ?? time, replaceItem)
                } else {
                    (rowID, created, statement) = (collection.nextRowID, time, insertItem)
                    collection.nextRowID += 1
                    collection.rowIDs.insert(rowID, of: hash)
                }
                try unsafe ItemRow.write(key, document, created: created, updated: time, at: rowID, by: statement)
                return statement === replaceItem
            }
        }
        if replaces { removes = true }
    }

    private mutating func remove(_ key: String, from collection: CollectionKeys) throws(SQLiteError) {
        guard let (rowID, hash) = try find(key, in: collection) else { return }
        defer { deleteItem.reset() }
        try deleteItem.bind(rowID, at: 1)
        try deleteItem.step()
        removes = true
        undo.append(.removed(rowID, of: hash, from: collection))
        collection.rowIDs.remove(rowID, of: hash)
    }

    private mutating func removeAll(from collection: CollectionKeys) throws(SQLiteError) {
        defer { deleteItems.reset() }
        let rowIDs = ItemRow.rowIDs(of: collection.number)
        try deleteItems.bind(rowIDs.lowerBound, at: 1)
        try deleteItems.bind(rowIDs.upperBound, at: 2)
        try deleteItems.step()
        removes = true
        undo.append(.all(of: collection, collection.rowIDs))
        collection.rowIDs = KeyTable()
    }

    /// Returns true if there are at most `itemsMax` documents after these changes.
    private func canTake(
        _ changes: [ItemChange],
        in collection: CollectionKeys,
        itemsMax: Int
    ) throws(SQLiteError) -> Bool {
        // In most cases there is room even if every put is new.
        if collection.rowIDs.count + changes.count <= itemsMax { return true }
        var count = collection.rowIDs.count
        var isThere: [ByteText: Bool] = [:]
        var isCleared = false
        for change in changes {
            let (key, isPut): (String, Bool)
            switch change {
            case .put(let put, _): (key, isPut) = (put, true)
            case .remove(let removed): (key, isPut) = (removed, false)
            case .removeAll:
                (isThere, isCleared, count) = ([:], true, 0)
                continue
            }
            var wasThere = isThere.updateValue(isPut, forKey: ByteText(key))
            if wasThere == nil, !isCleared { wasThere = try find(key, in: collection) != nil }
            count += (isPut ? 1 : 0) - (wasThere == true ? 1 : 0)
        }
        return count <= itemsMax
    }

    private func find(
        _ key: String,
        in collection: CollectionKeys
    ) throws(SQLiteError) -> (rowID: Int64, hash: UInt64)? {
        try unsafe key.utf8.span.bytes.withUnsafeBytes { (key) throws(SQLiteError) in
            let hash = unsafe hash(of: key)
            return try unsafe find(key, hash, in: collection).map { ($0.rowID, hash) }
        }
    }

    /// Returns the row of a key: the row with this key among the rows of its hash.
    @unsafe
    private func find(
        _ key: UnsafeRawBufferPointer,
        _ hash: UInt64,
        in collection: CollectionKeys
    ) throws(SQLiteError) -> Found? {
        var found: Found?
        _ = try collection.rowIDs.rowID(of: hash) { (rowID) throws(SQLiteError) in
            found = try unsafe row(at: rowID, of: key)
            return found != nil
        }
        return found
    }

    /// Returns the row at a place, if it has this key.
    @unsafe
    private func row(at rowID: Int64, of key: UnsafeRawBufferPointer) throws(SQLiteError) -> Found? {
        defer { identityAt.reset() }
        try identityAt.bind(rowID, at: 1)
        guard try identityAt.step(), unsafe key.elementsEqual(identityAt.bytesInPlace(2)) else { return nil }
        let (created, checksum) = (identityAt.integer(0), identityAt.integer(1))
        let isIdentified = unsafe ItemRow.isIdentified(key, created: created, at: rowID, checksum: checksum)
        guard !isReplica || isIdentified else { throw damage("the row of table item at place \(rowID)") }
        return Found(rowID: rowID, created: isIdentified ? created : nil)
    }

    private func damage(_ what: String) -> SQLiteError { .damaged(detail: "\(what) fails its checksum", path: path) }

    @unsafe
    private func hash(of key: UnsafeRawBufferPointer) -> UInt64 {
        unsafe KeyTable.hash(of: key) & limits.keyHashMask
    }
}

extension ItemChange {
    fileprivate var isPut: Bool {
        guard case .put = self else { return false }
        return true
    }
}

/// The keys of a collection as the writing connection sees them, also inside the current transaction; used by one
/// thread.
final class CollectionKeys {
    let number: Int64
    /// The place of each key's document.
    var rowIDs: KeyTable
    /// The place of the next new document, after all existing documents.
    var nextRowID: Int64
    /// The number of the collection's keys that the count of remembered keys includes.
    var counted = 0

    init(_ stored: StoredKeys) {
        number = stored.number
        rowIDs = stored.rowIDs
        nextRowID = stored.nextRowID
    }
}
