// Part of Rivulet. See README.md for the architecture.
// What can be written of stores inside a transaction.

internal import RivuletSessions
internal import RivuletStores

/// The writes of the stored family on one connection; each runs inside a transaction that the caller owns.
struct ItemStatements {
    private let limits: SQLiteStorageLimits
    private let finder: CollectionFinder
    private let lastNumber: SQLiteStatement
    private let insertCollection: SQLiteStatement
    private let keysBetween: SQLiteStatement
    private let insertItem: SQLiteStatement
    private let identityAt: SQLiteStatement
    private let updateItem: SQLiteStatement
    private let deleteItem: SQLiteStatement
    private let deleteItems: SQLiteStatement

    /// Collections as this connection has last seen them; right also inside the transaction under way.
    private var collections: [ItemKey: CollectionKeys] = [:]
    /// What leads back to the keys of before the transaction, last step first.
    private var undo: [Undo] = []

    private enum Undo {
        case made(ItemKey)
        /// It grew from this place on.
        case grown(CollectionKeys, Int64)
        case removed(ItemKey, from: CollectionKeys, Int64)
        case all(of: CollectionKeys, [ItemKey: Int64])
    }

    /// The collections that a file holds: their numbers are the upper bits of places.
    static let collectionsMax: Int64 = 1 << (63 - ItemRow.arrivalBits) - 1

    init(_ connection: SQLiteConnection, limits: SQLiteStorageLimits) throws(SQLiteError) {
        self.limits = limits
        finder = try CollectionFinder(connection)
        lastNumber = try SQLiteStatement("SELECT coalesce(max(number), 0) FROM collection", on: connection)
        insertCollection = try SQLiteStatement(
            "INSERT INTO collection(number, name, crc) VALUES (?, ?, ?)",
            on: connection
        )
        keysBetween = try SQLiteStatement(
            "SELECT place, key, created, crc FROM item WHERE place >= ? AND place < ? ORDER BY place",
            on: connection
        )
        insertItem = try SQLiteStatement(ItemRow.insertion, on: connection)
        identityAt = try SQLiteStatement("SELECT created, crc FROM item WHERE place = ?", on: connection)
        updateItem = try SQLiteStatement(
            "UPDATE item SET created = ?, updated = ?, crc = ?, document = ? WHERE place = ?",
            on: connection
        )
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
        guard collection.canTake(changes, itemsMax: limits.itemsMax) else {
            return .failure(.tooMany(limit: limits.itemsMax))
        }
        undo.append(.grown(collection, collection.nextPlace))
        for change in changes {
            switch change {
            case .put(let key, let document): try put(key, document, in: collection, time: time)
            case .remove(let key): try remove(ItemKey(key), from: collection)
            case .removeAll: try removeAll(from: collection)
            }
        }
        return .success(())
    }

    // MARK: - The transaction's end

    /// The changes are in the database.
    mutating func didCommit() {
        guard !undo.isEmpty else { return }
        undo.removeAll(keepingCapacity: true)
        if collections.values.reduce(0, { $0 + $1.places.count }) > limits.keysRememberedMax { forget() }
    }

    /// The changes are not in the database.
    mutating func didRollBack() {
        for step in undo.reversed() {
            switch step {
            case .made(let name): collections[name] = nil
            case .removed(let key, let collection, let place): collection.places[key] = place
            case .all(let collection, let places): collection.places = places
            case .grown: continue
            }
        }
        // Last: what came in this transaction may have gone in it, and have been brought back just now.
        for case .grown(let collection, let place) in undo where collection.nextPlace > place {
            collection.places = collection.places.filter { $0.value < place }
        }
        undo.removeAll(keepingCapacity: true)
    }

    /// What is remembered may not be so any more.
    mutating func forget() {
        collections = [:]
        undo = []
    }

    // MARK: - Parts

    private mutating func put(
        _ key: String,
        _ document: [UInt8],
        in collection: CollectionKeys,
        time: Int64
    ) throws(SQLiteError) {
        let name = ItemKey(key)
        // As if it were new: mostly it is, and then its key is looked for once.
        guard let place = collection.places.updateValue(collection.nextPlace, forKey: name) else {
            return try insert(
                StoredItem(key: key, document: document, created: time, updated: time),
                in: collection
            )
        }
        collection.places[name] = place
        let created = try created(key, at: place) ?? time
        let item = StoredItem(key: key, document: document, created: created, updated: time)
        defer { updateItem.reset() }
        try updateItem.bind(created, at: 1)
        try updateItem.bind(time, at: 2)
        try updateItem.bind(ItemRow.checksum(of: item, at: place), at: 3)
        try updateItem.bind(document, at: 4)
        try updateItem.bind(place, at: 5)
        try updateItem.step()
    }

    private func insert(_ item: StoredItem, in collection: CollectionKeys) throws(SQLiteError) {
        defer { insertItem.reset() }
        let place = collection.nextPlace
        collection.nextPlace += 1
        try ItemRow.bind(item, at: place, to: insertItem)
        try insertItem.step()
    }

    private mutating func remove(_ key: ItemKey, from collection: CollectionKeys) throws(SQLiteError) {
        guard let place = collection.places[key] else { return }
        defer { deleteItem.reset() }
        try deleteItem.bind(place, at: 1)
        try deleteItem.step()
        undo.append(.removed(key, from: collection, place))
        collection.places[key] = nil
    }

    private mutating func removeAll(from collection: CollectionKeys) throws(SQLiteError) {
        defer { deleteItems.reset() }
        let places = ItemRow.places(of: collection.number)
        try deleteItems.bind(places.lowerBound, at: 1)
        try deleteItems.bind(places.upperBound, at: 2)
        try deleteItems.step()
        undo.append(.all(of: collection, collection.places))
        collection.places = [:]
    }

    /// When a key came; nil when that is damaged.
    private func created(_ key: String, at place: Int64) throws(SQLiteError) -> Int64? {
        defer { identityAt.reset() }
        try identityAt.bind(place, at: 1)
        guard try identityAt.step() else { return nil }
        let created = identityAt.integer(0)
        return ItemRow.isIdentified(key, created: created, at: place, checksum: identityAt.integer(1)) ? created : nil
    }

    // MARK: - Collections

    /// A collection with its keys; nil when there is none and none is made.
    private mutating func collection(_ name: String, isMade: Bool) throws(SQLiteError) -> CollectionKeys? {
        let key = ItemKey(name)
        if let collection = collections[key] { return collection }
        let collection: CollectionKeys
        if let number = try finder.number(of: name) {
            collection = try stored(number)
        } else {
            guard isMade else { return nil }
            collection = CollectionKeys(number: try insert(name))
        }
        // Also one that was stored: it may have been made by this very transaction, and forgotten.
        undo.append(.made(key))
        collections[key] = collection
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

    private func stored(_ number: Int64) throws(SQLiteError) -> CollectionKeys {
        let collection = CollectionKeys(number: number)
        let places = ItemRow.places(of: number)
        defer { keysBetween.reset() }
        try keysBetween.bind(places.lowerBound, at: 1)
        try keysBetween.bind(places.upperBound, at: 2)
        var found: [(key: ItemKey, place: Int64)] = []
        while try keysBetween.step() {
            let (place, key) = (keysBetween.integer(0), keysBetween.text(1))
            let (created, checksum) = (keysBetween.integer(2), keysBetween.integer(3))
            collection.nextPlace = place + 1
            // Without its key a row is reached by `removeAll` only.
            guard ItemRow.isIdentified(key, created: created, at: place, checksum: checksum) else { continue }
            found.append((ItemKey(key), place))
        }
        collection.places = Dictionary(minimumCapacity: found.count)
        for (key, place) in found { collection.places[key] = place }
        return collection
    }
}

extension ItemChange {
    fileprivate var isPut: Bool {
        guard case .put = self else { return false }
        return true
    }
}
