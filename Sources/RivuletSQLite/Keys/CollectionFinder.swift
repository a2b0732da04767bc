/// Finds collections on one connection.
struct CollectionFinder {
    private let byName: SQLiteStatement
    private let path: String

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        byName = try SQLiteStatement("SELECT number, crc FROM collection WHERE name = ?", on: connection)
        path = connection.path
    }

    /// The number of a collection; nil when nothing was ever written there.
    func number(of name: String) throws(SQLiteError) -> Int64? {
        defer { byName.reset() }
        try byName.bind(name, at: 1)
        guard try byName.step() else { return nil }
        let number = byName.integer(0)
        guard Self.checksum(of: name, number) == byName.integer(1) else {
            throw .damaged(detail: "the row of table collection with number \(number) fails its checksum", path: path)
        }
        return number
    }

    static func checksum(of name: String, _ number: Int64) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(number)
        checksum.add(name)
        return checksum.stored
    }
}
