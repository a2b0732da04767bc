// Part of Rivulet. See README.md for the architecture.
// A row of the table `item`: how a document of a store lies on disk.

internal import RivuletStores

/// A document of a store as a row.
enum ItemRow {
    /// The columns that `item(in:)` reads, in its order.
    static let columns = "place, created, updated, crc, key, document"

    static let insertion = "INSERT INTO item(\(columns)) VALUES (?, ?, ?, ?, ?, ?)"

    /// The bits of a place that count arrivals; those above are the collection's number.
    static let arrivalBits: Int64 = 40

    /// The places of a collection.
    static func places(of number: Int64) -> Range<Int64> { number << arrivalBits..<(number + 1) << arrivalBits }

    /// Binds all columns to a prepared `insertion`.
    static func bind(_ item: StoredItem, at place: Int64, to statement: SQLiteStatement) throws(SQLiteError) {
        try statement.bind(place, at: 1)
        try statement.bind(item.created, at: 2)
        try statement.bind(item.updated, at: 3)
        try statement.bind(checksum(of: item, at: place), at: 4)
        try statement.bind(item.key, at: 5)
        try statement.bind(item.document, at: 6)
    }

    /// Reads the row that a statement over `columns` stands on, and checks it.
    static func read(_ statement: SQLiteStatement, into contents: inout StoredCollection) {
        let place = statement.integer(0)
        let item = StoredItem(
            key: statement.text(4),
            document: statement.bytes(5),
            created: statement.integer(1),
            updated: statement.integer(2)
        )
        let stored = statement.integer(3)
        if checksum(of: item, at: place) == stored { return contents.items.append(item) }
        let isIdentified = isIdentified(item.key, created: item.created, at: place, checksum: stored)
        let detail = "the row of table item at place \(place) fails its checksum"
        contents.damaged.append(DamagedItem(key: isIdentified ? item.key : nil, detail: detail))
    }

    /// Whether the parts of a row that an update leaves alone are what was once written.
    static func isIdentified(_ key: String, created: Int64, at place: Int64, checksum: Int64) -> Bool {
        checksum >> 32 == (identity(of: key, created: created, at: place).stored << 32) >> 32
    }

    /// The upper half is over the place, the key and its time: whose document is damaged is known then; the lower half is over all.
    static func checksum(of item: StoredItem, at place: Int64) -> Int64 {
        var checksum = identity(of: item.key, created: item.created, at: place)
        let identity = checksum.stored
        checksum.add(item.updated, Int64(item.document.count), 0)
        checksum.add(counted: item.document)
        return identity << 32 | checksum.stored
    }

    private static func identity(of key: String, created: Int64, at place: Int64) -> RowChecksum {
        var checksum = RowChecksum()
        checksum.add(place, created, Int64(key.utf8.count))
        checksum.add(counted: key)
        return checksum
    }
}
