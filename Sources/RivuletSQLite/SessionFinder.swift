// Part of Rivulet. See README.md for the architecture.
// Finds sessions and the ends of their logs.

internal import RivuletSessions

/// Finds sessions and the ends of their logs on one connection.
struct SessionFinder {
    private let byKey: SQLiteStatement
    private let bySID: SQLiteStatement
    private let ends: SQLiteStatement
    private let first: SQLiteStatement
    private let path: String

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        let columns = "SELECT sid, app, id, epoch, created, crc FROM session"
        byKey = try SQLiteStatement("\(columns) WHERE app = ? AND id = ?", on: connection)
        bySID = try SQLiteStatement("\(columns) WHERE sid = ?", on: connection)
        // One subquery each: only so does SQLite go straight to the end of the index.
        ends = try SQLiteStatement(
            """
            SELECT (SELECT min(v) FROM log WHERE sid = ?1), (SELECT max(v) FROM log WHERE sid = ?1),
                (SELECT max(v) FROM snapshot WHERE sid = ?1)
            """,
            on: connection
        )
        first = try SQLiteStatement("SELECT v, time FROM log WHERE sid = ? ORDER BY v LIMIT 1", on: connection)
        path = connection.path
    }

    func session(_ key: SessionKey) throws(SQLiteError) -> SessionRow? {
        defer { byKey.reset() }
        try byKey.bind(key.app, at: 1)
        try byKey.bind(key.id, at: 2)
        return try row(of: byKey)
    }

    /// The number of a session's rows, also when they are damaged.
    func sid(of key: SessionKey) throws(SQLiteError) -> Int64? {
        defer { byKey.reset() }
        try byKey.bind(key.app, at: 1)
        try byKey.bind(key.id, at: 2)
        return try byKey.step() ? byKey.integer(0) : nil
    }

    func session(sid: Int64) throws(SQLiteError) -> SessionRow? {
        defer { bySID.reset() }
        try bySID.bind(sid, at: 1)
        return try row(of: bySID)
    }

    /// The oldest kept version and the head's.
    func versions(sid: Int64) throws(SQLiteError) -> (retainedFrom: UInt64, head: UInt64) {
        defer { ends.reset() }
        try ends.bind(sid, at: 1)
        try ends.step()
        let snapshot = ends.isNull(2) ? 0 : UInt64(clamping: ends.integer(2))
        guard !ends.isNull(0) else { return (snapshot + 1, snapshot) }
        return (UInt64(clamping: ends.integer(0)), max(snapshot, UInt64(clamping: ends.integer(1))))
    }

    /// Where the kept entries begin, in a log that ends at a version.
    func retained(sid: Int64, head: UInt64) throws(SQLiteError) -> RetainedLog {
        defer { first.reset() }
        try first.bind(sid, at: 1)
        guard try first.step() else { return RetainedLog(from: head + 1, since: nil) }
        return RetainedLog(from: UInt64(clamping: first.integer(0)), since: first.integer(1))
    }

    private func row(of statement: SQLiteStatement) throws(SQLiteError) -> SessionRow? {
        guard try statement.step() else { return nil }
        let row = SessionRow(
            sid: statement.integer(0),
            key: SessionKey(app: statement.text(1), id: statement.text(2)),
            epoch: statement.text(3),
            created: statement.integer(4)
        )
        guard row.checksum == statement.integer(5) else {
            throw .damaged(detail: "session row \(row.sid) fails its checksum", path: path)
        }
        return row
    }
}
