internal import RivuletStores

/// The reads of stores and values on one connection.
struct ItemReader {
    private let finder: CollectionFinder
    private let keysReader: StoredKeysReader
    private let rows: SQLiteStatement
    private let hashMask: UInt64

    init(_ connection: SQLiteConnection, limits: SQLiteStorageLimits) throws(SQLiteError) {
        finder = try CollectionFinder(connection)
        keysReader = try StoredKeysReader(connection, limits: limits)
        rows = try SQLiteStatement(
            "SELECT \(ItemRow.columns) FROM item WHERE place >= ? AND place < ? ORDER BY place",
            on: connection
        )
        hashMask = limits.keyHashMask
    }

    /// Returns a whole collection, in the order of arrival; with `withKeys`, also the keys that the writer needs.
    func items(
        of collection: String,
        withKeys: Bool
    ) throws(SQLiteError) -> (contents: StoredCollection, keys: StoredKeys?) {
        guard let number = try finder.number(of: collection) else { return (StoredCollection(), nil) }
        defer { rows.reset() }
        let rowIDs = ItemRow.rowIDs(of: number)
        try rows.bind(rowIDs.lowerBound, at: 1)
        try rows.bind(rowIDs.upperBound, at: 2)
        var contents = StoredCollection()
        var keys = withKeys ? StoredKeys.Gathering(number: number, hashMask: hashMask) : nil
        while try rows.step() { ItemRow.read(rows, into: &contents, &keys) }
        return (contents, keys?.keys)
    }

    /// Returns the keys of a collection; nil if the collection does not exist.
    func keys(of collection: String) throws(SQLiteError) -> StoredKeys? {
        guard let number = try finder.number(of: collection) else { return nil }
        return try keysReader.keys(of: number)
    }
}
