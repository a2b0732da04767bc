internal import RivuletCluster
internal import RivuletSessions

/// The position of a replica on its writing connection, and the numbers of its sessions.
struct ReplicaStatements {
    let connection: SQLiteConnection
    private let selection: SQLiteStatement
    private let insertion: SQLiteStatement
    private let sidsMax: Int
    /// The position, as of the current transaction; nil if it must be read.
    private var known: ReplicaPosition?
    /// The sids of sessions, as of the current transaction.
    private var sids: [SessionKey: Int64] = [:]

    init(_ connection: SQLiteConnection, sidsMax: Int) throws(SQLiteError) {
        self.connection = connection
        self.sidsMax = sidsMax
        selection = try SQLiteStatement(ReplicaRow.selection, on: connection)
        insertion = try SQLiteStatement(ReplicaRow.insertion, on: connection)
    }

    /// The deletion of a few old idempotency records, in the order of their times.
    ///
    /// Records of one time are ordered by their names, and not by their rows, which differ between copies. Records of
    /// deleted sessions are left out, because each copy erases them at another time. Without the index of times, the
    /// whole table is searched, because every copy must delete the same records.
    static func dropOldAnswers(on connection: SQLiteConnection) throws(SQLiteError) -> SQLiteLookup {
        try SQLiteLookup(on: connection) {
            """
            DELETE FROM answer WHERE row IN (
                SELECT a.row FROM answer a\($0) CROSS JOIN session s ON s.sid = a.sid WHERE a.time < ?
                ORDER BY a.time, s.app, s.id, a.id LIMIT ?)
            """
        }
    }

    /// Returns the position; `.start` if nothing was applied.
    mutating func position() throws(SQLiteError) -> ReplicaPosition {
        if let known { return known }
        let position = try ReplicaRow.position(of: .first, by: selection, path: connection.path)
        known = position
        return position
    }

    mutating func set(_ position: ReplicaPosition) throws(SQLiteError) {
        try ReplicaRow.write(position, of: .first, by: insertion)
        known = position
    }

    func sid(of key: SessionKey) -> Int64? { sids[key] }

    mutating func remember(_ sid: Int64, of key: SessionKey) {
        if sids.count >= sidsMax { sids.removeAll(keepingCapacity: true) }
        sids[key] = sid
    }

    mutating func forget(_ key: SessionKey) { sids[key] = nil }

    /// Forgets all, because the transaction was rolled back or another connection has written.
    mutating func forget() {
        known = nil
        sids.removeAll(keepingCapacity: true)
    }
}
