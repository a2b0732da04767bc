internal import RivuletSessions

/// Finds sessions, and the first and last versions of their logs, on one connection.
struct SessionFinder {
    /// The finder of the sessions' log entries.
    let log: LogFinder
    private let byKey: SQLiteLookup
    private let bySID: SQLiteStatement
    private let newestSnapshot: SQLiteLookup
    private let renewal: EpochRenewal?
    private let path: String

    init(_ connection: SQLiteConnection, layout: Int64) throws(SQLiteError) {
        log = try LogFinder(connection, layout: layout)
        let owner = layout >= SQLiteSchema.callersLayout ? "owner" : "NULL"
        let columns = "SELECT sid, app, id, epoch, created, crc, \(owner) FROM session"
        byKey = try SQLiteLookup(on: connection) { "\(columns)\($0) WHERE app = ? AND id = ?" }
        bySID = try SQLiteStatement("\(columns) WHERE sid = ?", on: connection)
        newestSnapshot = try SQLiteLookup(on: connection) { "SELECT max(v) FROM snapshot\($0) WHERE sid = ?" }
        renewal = try EpochRenewal(connection, layout: layout)
        path = connection.path
    }

    /// Returns the current epoch of a session, given its stored epoch.
    func epoch(_ stored: String, sid: Int64) -> String { renewal?.epoch(stored, sid: sid) ?? stored }

    func session(_ key: SessionKey) throws(SQLiteError) -> SessionRow? {
        try byKey.read { (row) throws(SQLiteError) in
            try row.bind(key.app, at: 1)
            try row.bind(key.id, at: 2)
            return try self.row(of: row)
        }
    }

    /// Returns the number of a session, even if its row is damaged.
    func sid(of key: SessionKey) throws(SQLiteError) -> Int64? {
        try byKey.read { (row) throws(SQLiteError) in
            try row.bind(key.app, at: 1)
            try row.bind(key.id, at: 2)
            return try row.step() ? row.integer(0) : nil
        }
    }

    func session(sid: Int64) throws(SQLiteError) -> SessionRow? {
        defer { bySID.reset() }
        try bySID.bind(sid, at: 1)
        return try row(of: bySID)
    }

    /// Returns the oldest retained version and the version of the head.
    func versions(sid: Int64) throws(SQLiteError) -> (retainedFrom: UInt64, head: UInt64) {
        let snapshot = try newestSnapshot.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            try row.step()
            return UInt64(clamping: row.integer(0))
        }
        guard let (first, last) = try log.versions(sid: sid) else { return (snapshot + 1, snapshot) }
        return (UInt64(clamping: first), max(snapshot, UInt64(clamping: last)))
    }

    /// Returns the version and the time of the first retained entry, for a log that ends at `head`.
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
            created: statement.integer(4),
            owner: statement.isNull(6) ? nil : statement.text(6)
        )
        guard row.checksum == statement.integer(5) else {
            throw .damaged(detail: "session row \(row.sid) fails its checksum", path: path)
        }
        return row.with(epoch: epoch(row.epoch, sid: row.sid))
    }
}
