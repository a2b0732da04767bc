internal import RivuletSessions

/// Finds sessions and where their logs begin and end, on one connection.
struct SessionFinder {
    /// Finds their entries.
    let log: LogFinder
    private let byKey: SQLiteStatement
    private let bySID: SQLiteStatement
    private let newestSnapshot: SQLiteStatement
    private let path: String

    init(_ connection: SQLiteConnection, layout: Int64) throws(SQLiteError) {
        log = try LogFinder(connection, layout: layout)
        let columns = "SELECT sid, app, id, epoch, created, crc FROM session"
        byKey = try SQLiteStatement("\(columns) WHERE app = ? AND id = ?", on: connection)
        bySID = try SQLiteStatement("\(columns) WHERE sid = ?", on: connection)
        newestSnapshot = try SQLiteStatement("SELECT max(v) FROM snapshot WHERE sid = ?", on: connection)
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
        defer { newestSnapshot.reset() }
        try newestSnapshot.bind(sid, at: 1)
        try newestSnapshot.step()
        let snapshot = UInt64(clamping: newestSnapshot.integer(0))
        guard let (first, last) = try log.versions(sid: sid) else { return (snapshot + 1, snapshot) }
        return (UInt64(clamping: first), max(snapshot, UInt64(clamping: last)))
    }

    /// Where the kept entries begin, in a log that ends at a version.
    func retained(sid: Int64, head: UInt64) throws(SQLiteError) -> RetainedLog {
        guard let (version, time) = try log.first(sid: sid) else { return RetainedLog(from: head + 1, since: nil) }
        return RetainedLog(from: UInt64(clamping: version), since: time)
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
