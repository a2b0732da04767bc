// Part of Rivulet. See README.md for the architecture.
// Reads the items of stores.

internal import RivuletStores

/// The reads of the stored family on one connection.
struct ItemReader {
    private let finder: CollectionFinder
    private let rows: SQLiteStatement

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        finder = try CollectionFinder(connection)
        rows = try SQLiteStatement(
            "SELECT \(ItemRow.columns) FROM item WHERE place >= ? AND place < ? ORDER BY place",
            on: connection
        )
    }

    /// A whole collection, in the order of arrival.
    func items(of collection: String) throws(SQLiteError) -> StoredCollection {
        guard let number = try finder.number(of: collection) else { return StoredCollection() }
        defer { rows.reset() }
        let places = ItemRow.places(of: number)
        try rows.bind(places.lowerBound, at: 1)
        try rows.bind(places.upperBound, at: 2)
        var contents = StoredCollection()
        while try rows.step() { ItemRow.read(rows, into: &contents) }
        return contents
    }
}
