import RivuletCluster

/// The position of a node's copy, as a row.
///
/// A database without this row is not a copy of a cluster's data, or nothing was applied to it yet.
enum ReplicaRow {
    private static let columns = "cluster, position, number, term, hash_high, hash_low, outcomes, ownership, crc"

    /// The numbers are stored by their bits, and the ownership as its bytes.
    static let table = """
        CREATE TABLE replica(
            part INTEGER PRIMARY KEY, cluster TEXT NOT NULL, position INTEGER NOT NULL, number INTEGER NOT NULL,
            term INTEGER NOT NULL, hash_high INTEGER NOT NULL, hash_low INTEGER NOT NULL, outcomes INTEGER NOT NULL,
            ownership BLOB NOT NULL, crc INTEGER NOT NULL) STRICT
        """

    static let selection = "SELECT \(columns) FROM replica WHERE part = ?"

    static let insertion = "INSERT OR REPLACE INTO replica(part, \(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

    /// Returns the name of the cluster to which a database belongs, which may be damaged; nil if there is none.
    static func cluster(in connection: SQLiteConnection, layout: Int64) throws(SQLiteError) -> String? {
        guard layout >= SQLiteSchema.replicaLayout else { return nil }
        return try connection.text("SELECT cluster FROM replica ORDER BY part LIMIT 1")
    }

    /// Reads and checks the position of a database; `.start` if it has none.
    static func position(
        of partition: Partition,
        in connection: SQLiteConnection
    ) throws(SQLiteError) -> ReplicaPosition {
        try position(of: partition, by: SQLiteStatement(selection, on: connection), path: connection.path)
    }

    /// Reads and checks a row by a prepared `selection`.
    static func position(
        of partition: Partition,
        by statement: SQLiteStatement,
        path: String
    ) throws(SQLiteError) -> ReplicaPosition {
        defer { statement.reset() }
        try statement.bind(Int64(partition.rawValue), at: 1)
        guard try statement.step() else { return .start }
        func number(_ column: Int32) -> UInt64 { UInt64(bitPattern: statement.integer(column)) }
        let ownership = statement.bytes(7)
        var position = ReplicaPosition(
            cluster: statement.text(0),
            position: LogPosition(rawValue: number(1)),
            link: FrameLink(
                number: number(2),
                term: number(3),
                hash: FrameHash(high: number(4), low: number(5))
            ),
            outcomes: number(6)
        )
        guard checksum(of: position, ownership, partition) == statement.integer(8) else {
            throw .damaged(detail: "the row of table replica fails its checksum", path: path)
        }
        do throws(FrameError) {
            position.ownership = try PartitionOwnership(bytes: ownership)
        } catch {
            throw .damaged(detail: "the ownership in the row of table replica cannot be read: \(error)", path: path)
        }
        return position
    }

    /// Writes a row by a prepared `insertion`.
    static func write(
        _ position: ReplicaPosition,
        of partition: Partition,
        by statement: SQLiteStatement
    ) throws(SQLiteError) {
        defer { statement.reset() }
        try statement.bind(Int64(partition.rawValue), at: 1)
        try statement.bind(position.cluster, at: 2)
        for (number, index) in zip(numbers(of: position), Int32(3)...) {
            try statement.bind(Int64(bitPattern: number), at: index)
        }
        let ownership = position.ownership.bytes
        try statement.bind(ownership, at: 9)
        try statement.bind(checksum(of: position, ownership, partition), at: 10)
        try statement.step()
    }

    private static func numbers(of position: ReplicaPosition) -> [UInt64] {
        let link = position.link
        return [
            position.position.rawValue, link.number, link.term, link.hash.high, link.hash.low, position.outcomes,
        ]
    }

    private static func checksum(
        of position: ReplicaPosition,
        _ ownership: [UInt8],
        _ partition: Partition
    ) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(Int64(partition.rawValue))
        checksum.add(position.cluster)
        for number in numbers(of: position) { checksum.add(Int64(bitPattern: number)) }
        checksum.add(ownership)
        return checksum.stored
    }
}
