/// Finds collections on one connection.
struct CollectionFinder {
    private let byName: SQLiteLookup
    private let path: String

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        byName = try SQLiteLookup(on: connection) { "SELECT number, crc FROM collection\($0) WHERE name = ?" }
        path = connection.path
    }

    /// Returns the number of a collection; nil if it was never written to.
    func number(of name: String) throws(SQLiteError) -> Int64? {
        try byName.read { (row) throws(SQLiteError) in
            try row.bind(name, at: 1)
            guard try row.step() else { return nil }
            let number = row.integer(0)
            guard Self.checksum(of: name, number) == row.integer(1) else {
                throw .damaged(
                    detail: "the row of table collection with number \(number) fails its checksum",
                    path: path
                )
            }
            return number
        }
    }

    static func checksum(of name: String, _ number: Int64) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(number)
        checksum.add(name)
        return checksum.stored
    }
}
