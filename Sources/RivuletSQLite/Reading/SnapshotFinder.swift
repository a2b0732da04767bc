internal import RivuletSessions

/// Finds snapshots on one connection, including snapshots of older schemas.
struct SnapshotFinder {
    private let marks: SQLiteLookup
    private let byMark: SQLiteLookup
    private let path: String

    init(_ connection: SQLiteConnection, layout: Int64) throws(SQLiteError) {
        path = connection.path
        let tables = ["snapshot"] + (layout < SQLiteSchema.olderSnapshotsLayout ? [] : ["older_snapshot"])
        func select(_ columns: String, _ how: String, _ condition: String) -> String {
            tables.map { "SELECT \(columns) FROM \($0)\(how) WHERE \(condition)" }.joined(separator: " UNION ALL ")
        }
        marks = try SQLiteLookup(on: connection) { select("v, schema", $0, "sid = ?1") }
        byMark = try SQLiteLookup(on: connection) {
            select(SnapshotRow.columns, $0, "sid = ?1 AND v = ?2 AND schema = ?3")
        }
    }

    /// Returns the versions and schemas of a session's snapshots.
    func marks(sid: Int64) throws(SQLiteError) -> SnapshotMarks {
        try marks.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            var found: [SnapshotMarks.Mark] = []
            while try row.step() {
                let (version, schema) = (UInt64(clamping: row.integer(0)), UInt32(clamping: row.integer(1)))
                found.append(SnapshotMarks.Mark(version: version, schema: schema))
            }
            return SnapshotMarks(found)
        }
    }

    /// Returns the row of a snapshot.
    func snapshot(_ mark: SnapshotMarks.Mark, sid: Int64) throws(SQLiteError) -> SnapshotRow? {
        try byMark.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            try row.bind(Int64(clamping: mark.version), at: 2)
            try row.bind(Int64(mark.schema), at: 3)
            return try row.step() ? try SnapshotRow(in: row, path: path) : nil
        }
    }
}
