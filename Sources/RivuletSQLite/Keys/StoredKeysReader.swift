/// Reads keys on one connection.
struct StoredKeysReader {
    private let rows: SQLiteStatement
    private let hashMask: UInt64

    init(_ connection: SQLiteConnection, limits: SQLiteStorageLimits) throws(SQLiteError) {
        rows = try SQLiteStatement(
            "SELECT place, created, checksum, key FROM item WHERE place >= ? AND place < ? ORDER BY place",
            on: connection
        )
        hashMask = limits.keyHashMask
    }

    /// Returns all keys of a collection.
    func keys(of number: Int64) throws(SQLiteError) -> StoredKeys {
        defer { rows.reset() }
        let rowIDs = ItemRow.rowIDs(of: number)
        try rows.bind(rowIDs.lowerBound, at: 1)
        try rows.bind(rowIDs.upperBound, at: 2)
        var keys = StoredKeys.Gathering(number: number, hashMask: hashMask)
        while try rows.step() {
            let (rowID, created, checksum) = (rows.integer(0), rows.integer(1), rows.integer(2))
            let key = unsafe rows.bytesInPlace(3)
            let isIdentified = unsafe ItemRow.isIdentified(key, created: created, at: rowID, checksum: checksum)
            unsafe keys.add(key, at: rowID, isIdentified: isIdentified)
        }
        return keys.keys
    }
}
