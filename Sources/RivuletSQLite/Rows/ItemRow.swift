internal import RivuletStores

/// A document of a store as a row.
enum ItemRow {
    /// The columns that `read(_:into:_:)` reads, in its order.
    static let columns = "place, created, age, checksum, key, document"

    /// The statement that inserts a row at a free place.
    static let insertion = "INSERT INTO item(\(columns)) VALUES (?, ?, ?, ?, ?, ?)"

    /// The statement that replaces the row at a place.
    static let replacement = "REPLACE INTO item(\(columns)) VALUES (?, ?, ?, ?, ?, ?)"

    /// The number of lower bits of a place, which is a row id; these bits count the arrivals in a collection.
    ///
    /// The bits above them are the collection's number.
    static let arrivalBits: Int64 = 40

    /// Returns the range of places of a collection.
    static func rowIDs(of number: Int64) -> Range<Int64> { number << arrivalBits..<(number + 1) << arrivalBits }

    /// Writes a row by a prepared `insertion` or `replacement`, without a copy of the key and the document.
    @unsafe
    static func write(
        _ key: UnsafeRawBufferPointer,
        _ document: UnsafeRawBufferPointer,
        created: Int64,
        updated: Int64,
        at rowID: Int64,
        by statement: SQLiteStatement
    ) throws(SQLiteError) {
        defer { statement.reset() }
        // The subtraction wraps, so the addition in `read` restores any number.
        let age = updated &- created
        let checksum = unsafe checksum(key, document, created: created, age: age, at: rowID)
        try statement.bind(rowID, at: 1)
        try statement.bind(created, at: 2)
        try statement.bind(age, at: 3)
        try statement.bind(checksum, at: 4)
        try unsafe statement.bind(textInPlace: key, at: 5)
        try unsafe statement.bind(inPlace: document, at: 6)
        try statement.step()
    }

    /// Reads the current row of a statement over `columns`, checks it, and adds it to the contents and to the
    /// collection's keys.
    static func read(
        _ statement: SQLiteStatement,
        into contents: inout StoredCollection,
        _ keys: inout StoredKeys.Gathering?
    ) {
        let (rowID, created, age) = (statement.integer(0), statement.integer(1), statement.integer(2))
        let stored = statement.integer(3)
        let (key, document) = unsafe (statement.bytesInPlace(4), statement.bytesInPlace(5))
        if unsafe checksum(key, document, created: created, age: age, at: rowID) == stored {
            unsafe keys?.add(key, at: rowID, isIdentified: true)
            let item = unsafe StoredItem(
                key: String(decoding: key, as: UTF8.self),
                document: Array(document),
                created: created,
                updated: created &+ age
            )
            return contents.items.append(item)
        }
        let isIdentified = unsafe isIdentified(key, created: created, at: rowID, checksum: stored)
        unsafe keys?.add(key, at: rowID, isIdentified: isIdentified)
        let detail = "the row of table item at place \(rowID) fails its checksum"
        let name = unsafe isIdentified ? String(decoding: key, as: UTF8.self) : nil
        contents.damaged.append(DamagedItem(key: name, detail: detail))
    }

    /// Returns true if the parts of a row that an update does not change are intact.
    @unsafe
    static func isIdentified(_ key: UnsafeRawBufferPointer, created: Int64, at rowID: Int64, checksum: Int64) -> Bool {
        unsafe identity(of: key, created: created, at: rowID) & 0xffff_ffff == UInt64(bitPattern: checksum) >> 32
    }

    /// Computes a checksum: the upper half covers the place, the key and its time, the lower half covers the whole row.
    ///
    /// So the key is known even if the document is damaged.
    private static func checksum(
        _ key: UnsafeRawBufferPointer,
        _ document: UnsafeRawBufferPointer,
        created: Int64,
        age: Int64,
        at rowID: Int64
    ) -> Int64 {
        let identity = unsafe identity(of: key, created: created, at: rowID)
        let seed = XXHash64.seed(Int64(bitPattern: identity), age)
        let whole = unsafe XXHash64.hash(document, seed: seed)
        return Int64(bitPattern: identity << 32 | whole & 0xffff_ffff)
    }

    private static func identity(of key: UnsafeRawBufferPointer, created: Int64, at rowID: Int64) -> UInt64 {
        unsafe XXHash64.hash(key, seed: XXHash64.seed(rowID, created))
    }
}
