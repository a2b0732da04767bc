internal import RivuletSessions

/// Finds snapshots on one connection, those of older schemas included.
struct SnapshotFinder {
    private let marks: SQLiteStatement
    private let byMark: SQLiteStatement
    private let path: String

    init(_ connection: SQLiteConnection, layout: Int64) throws(SQLiteError) {
        path = connection.path
        let tables = ["snapshot"] + (layout < SQLiteSchema.olderSnapshotsLayout ? [] : ["older_snapshot"])
        func select(_ columns: String, _ condition: String) -> String {
            tables.map { "SELECT \(columns) FROM \($0) WHERE \(condition)" }.joined(separator: " UNION ALL ")
        }
        marks = try SQLiteStatement(select("v, schema", "sid = ?1"), on: connection)
        byMark = try SQLiteStatement(
            select(SnapshotRow.columns, "sid = ?1 AND v = ?2 AND schema = ?3"),
            on: connection
        )
    }

    /// The versions and schemas of a session's snapshots.
    func marks(sid: Int64) throws(SQLiteError) -> SnapshotMarks {
        defer { marks.reset() }
        try marks.bind(sid, at: 1)
        var found: [SnapshotMarks.Mark] = []
        while try marks.step() {
            let (version, schema) = (UInt64(clamping: marks.integer(0)), UInt32(clamping: marks.integer(1)))
            found.append(SnapshotMarks.Mark(version: version, schema: schema))
        }
        return SnapshotMarks(found)
    }

    /// The row of a snapshot.
    func snapshot(_ mark: SnapshotMarks.Mark, sid: Int64) throws(SQLiteError) -> SnapshotRow? {
        defer { byMark.reset() }
        try byMark.bind(sid, at: 1)
        try byMark.bind(Int64(clamping: mark.version), at: 2)
        try byMark.bind(Int64(mark.schema), at: 3)
        return try byMark.step() ? try SnapshotRow(in: byMark, path: path) : nil
    }
}
