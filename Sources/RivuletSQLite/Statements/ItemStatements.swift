internal import RivuletSessions
internal import RivuletStores

/// The writes of the stored family on one connection; each runs inside a transaction that the caller owns.
struct ItemStatements {
    private let limits: SQLiteStorageLimits
    private let sharedKeys: SharedKeys
    private let finder: CollectionFinder
    private let keysReader: StoredKeysReader
    private let lastNumber: SQLiteStatement
    private let insertCollection: SQLiteStatement
    private let insertItem: SQLiteStatement
    private let replaceItem: SQLiteStatement
    private let identityAt: SQLiteStatement
    private let deleteItem: SQLiteStatement
    private let deleteItems: SQLiteStatement

    /// Collections as this connection has last seen them; right also inside the transaction under way.
    private var collections: [ItemKey: CollectionKeys] = [:]
    /// How many keys they had when they were last counted.
    private var keyCount = 0
    /// Whether a document was removed or replaced in the transaction under way.
    private var removes = false
    /// What leads back to the keys of before the transaction, last step first.
    private var undo: [Undo] = []

    private enum Undo {
        case made(ItemKey)
        /// It grew from this place on.
        case grown(CollectionKeys, Int64)
        case removed(Int64, of: UInt64, from: CollectionKeys)
        case all(of: CollectionKeys, KeyTable)
    }

    /// A row that is there.
    private struct Found {
        let place: Int64
        /// When the key came; nil when that is damaged.
        let created: Int64?
    }

    /// The collections that a file holds: their numbers are the upper bits of places.
    static let collectionsMax: Int64 = 1 << (63 - ItemRow.arrivalBits) - 1

    init(_ connection: SQLiteConnection, limits: SQLiteStorageLimits, sharedKeys: SharedKeys) throws(SQLiteError) {
        self.limits = limits
        self.sharedKeys = sharedKeys
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

    /// Makes changes in their order, or none of them and says why not.
    mutating func commit(
        _ changes: [ItemChange],
        to name: String,
        time: Int64
    ) throws(SQLiteError) -> Result<Void, ItemStorageError> {
        guard let collection = try collection(name, isMade: changes.contains(where: \.isPut)) else {
            return .success(())
        }
        guard try canTake(changes, in: collection) else { return .failure(.tooMany(limit: limits.itemsMax)) }
        undo.append(.grown(collection, collection.nextPlace))
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

    /// The changes are in the database; true: a document was removed or replaced.
    mutating func didCommit() -> Bool {
        defer { removes = false }
        for case .grown(let collection, _) in undo {
            keyCount += collection.places.count - collection.counted
            collection.counted = collection.places.count
        }
        undo.removeAll(keepingCapacity: true)
        if keyCount > limits.keysRememberedMax { forget() }
        return removes
    }

    /// The changes are not in the database.
    mutating func didRollBack() {
        removes = false
        for step in undo.reversed() {
            switch step {
            case .made(let name):
                collections[name] = nil
                sharedKeys.setKnown(name, to: false)
            case .removed(let place, let hash, let collection): collection.places.insert(place, of: hash)
            case .all(let collection, let places): collection.places = places
            case .grown: continue
            }
        }
        // Last: what came in this transaction may have gone in it, and have been brought back just now.
        for case .grown(let collection, let place) in undo where collection.nextPlace > place {
            collection.places.removePlaces(from: place)
        }
        undo.removeAll(keepingCapacity: true)
    }

    /// What is remembered may not be so any more.
    mutating func forget() {
        collections = [:]
        keyCount = 0
        undo = []
        sharedKeys.forget()
    }

    // MARK: - Collections

    /// Whether a commit to a collection need not read its keys: they are known, or have been read by another, or there are none.
    mutating func isReady(_ name: ItemKey) throws(SQLiteError) -> Bool {
        if collections[name] != nil { return true }
        guard let number = try finder.number(of: name.text) else { return true }
        guard let keys = sharedKeys.take(name), keys.number == number else { return false }
        remember(keys, of: name)
        return true
    }

    /// A collection with its keys; nil when there is none and none is made.
    private mutating func collection(_ name: String, isMade: Bool) throws(SQLiteError) -> CollectionKeys? {
        let key = ItemKey(name)
        if let collection = collections[key] { return collection }
        if let number = try finder.number(of: name) {
            sharedKeys.countWriterRead()
            return remember(try keysReader.keys(of: number), of: key)
        }
        guard isMade else { return nil }
        let keys = StoredKeys.Gathering(number: try insert(name), hashMask: limits.keyHashMask).keys
        undo.append(.made(key))
        return remember(keys, of: key)
    }

    @discardableResult
    private mutating func remember(_ keys: StoredKeys, of name: ItemKey) -> CollectionKeys {
        let collection = CollectionKeys(keys)
        collections[name] = collection
        sharedKeys.setKnown(name, to: true)
        return collection
    }

    private func insert(_ name: String) throws(SQLiteError) -> Int64 {
        defer { lastNumber.reset() }
        try lastNumber.step()
        let number = lastNumber.integer(0) + 1
        guard number <= Self.collectionsMax else {
            throw .refused(.full(detail: "the database holds \(Self.collectionsMax) collections, as many as it may"))
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
                let place: Int64
                let created: Int64
                let statement: SQLiteStatement
                if let found = try unsafe find(key, hash, in: collection) {
                    (place, created, statement) = (found.place, found.created ?? time, replaceItem)
                } else {
                    (place, created, statement) = (collection.nextPlace, time, insertItem)
                    collection.nextPlace += 1
                    collection.places.insert(place, of: hash)
                }
                try unsafe ItemRow.write(key, document, created: created, updated: time, at: place, by: statement)
                return statement === replaceItem
            }
        }
        if replaces { removes = true }
    }

    private mutating func remove(_ key: String, from collection: CollectionKeys) throws(SQLiteError) {
        guard let (place, hash) = try find(key, in: collection) else { return }
        defer { deleteItem.reset() }
        try deleteItem.bind(place, at: 1)
        try deleteItem.step()
        removes = true
        undo.append(.removed(place, of: hash, from: collection))
        collection.places.remove(place, of: hash)
    }

    private mutating func removeAll(from collection: CollectionKeys) throws(SQLiteError) {
        defer { deleteItems.reset() }
        let places = ItemRow.places(of: collection.number)
        try deleteItems.bind(places.lowerBound, at: 1)
        try deleteItems.bind(places.upperBound, at: 2)
        try deleteItems.step()
        removes = true
        undo.append(.all(of: collection, collection.places))
        collection.places = KeyTable()
    }

    /// Whether no more than `itemsMax` documents are there after these changes.
    private func canTake(_ changes: [ItemChange], in collection: CollectionKeys) throws(SQLiteError) -> Bool {
        // Mostly there is room for all puts as if each were new.
        if collection.places.count + changes.count <= limits.itemsMax { return true }
        var count = collection.places.count
        var isThere: [ItemKey: Bool] = [:]
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
            var wasThere = isThere.updateValue(isPut, forKey: ItemKey(key))
            if wasThere == nil, !isCleared { wasThere = try find(key, in: collection) != nil }
            count += (isPut ? 1 : 0) - (wasThere == true ? 1 : 0)
        }
        return count <= limits.itemsMax
    }

    private func find(
        _ key: String,
        in collection: CollectionKeys
    ) throws(SQLiteError) -> (place: Int64, hash: UInt64)? {
        try unsafe key.utf8.span.bytes.withUnsafeBytes { (key) throws(SQLiteError) in
            let hash = unsafe hash(of: key)
            return try unsafe find(key, hash, in: collection).map { ($0.place, hash) }
        }
    }

    /// The row of a key: of those under its hash the one that has this key.
    @unsafe
    private func find(
        _ key: UnsafeRawBufferPointer,
        _ hash: UInt64,
        in collection: CollectionKeys
    ) throws(SQLiteError) -> Found? {
        var found: Found?
        _ = try collection.places.place(of: hash) { (place) throws(SQLiteError) in
            found = try unsafe row(at: place, of: key)
            return found != nil
        }
        return found
    }

    /// The row at a place, if it is this key's.
    @unsafe
    private func row(at place: Int64, of key: UnsafeRawBufferPointer) throws(SQLiteError) -> Found? {
        defer { identityAt.reset() }
        try identityAt.bind(place, at: 1)
        guard try identityAt.step(), unsafe key.elementsEqual(identityAt.bytesInPlace(2)) else { return nil }
        let (created, checksum) = (identityAt.integer(0), identityAt.integer(1))
        let isIdentified = unsafe ItemRow.isIdentified(key, created: created, at: place, checksum: checksum)
        return Found(place: place, created: isIdentified ? created : nil)
    }

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

/// The keys of a collection as the writing connection sees them, also inside the transaction under way; used by one thread.
final class CollectionKeys {
    let number: Int64
    /// Where each key's document is.
    var places: KeyTable
    /// Where the next new one goes: behind all that are there.
    var nextPlace: Int64
    /// How many of its keys have been counted as remembered.
    var counted = 0

    init(_ stored: StoredKeys) {
        number = stored.number
        places = stored.places
        nextPlace = stored.nextPlace
    }
}
