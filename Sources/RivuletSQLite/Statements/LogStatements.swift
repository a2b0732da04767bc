internal import RivuletSessions

/// The writes to the log on one connection; each runs inside a transaction that the caller owns.
struct LogStatements {
    private let finder: LogFinder
    private let insertEntry: SQLiteStatement
    private let dropIndexedEntries: SQLiteStatement
    private let dropFromIndex: SQLiteStatement
    private let dropEntry: SQLiteStatement
    private let extendIndex: SQLiteStatement
    private let noteIndexed: SQLiteStatement
    /// The row of the last entry; this writer gives no number twice, so that the reader beside it sees by them what is new.
    private var lastRow: Int64 = 0

    init(_ connection: SQLiteConnection, finder: LogFinder) throws(SQLiteError) {
        self.finder = finder
        insertEntry = try SQLiteStatement(LogRow.insertion, on: connection)
        dropIndexedEntries = try SQLiteStatement(
            "DELETE FROM log WHERE seq IN (SELECT seq FROM log_index WHERE sid = ?1 AND v < ?2) AND sid = ?1 AND v < ?2",
            on: connection
        )
        dropFromIndex = try SQLiteStatement("DELETE FROM log_index WHERE sid = ? AND v < ?", on: connection)
        dropEntry = try SQLiteStatement("DELETE FROM log WHERE seq = ?", on: connection)
        // Ordered, so that each page of the index is written to once. Where another program made two entries of one version, the first one counts.
        extendIndex = try SQLiteStatement(
            """
            INSERT OR IGNORE INTO log_index(sid, v, seq) SELECT sid, v, seq FROM log WHERE seq > ? ORDER BY sid, v, seq
            """,
            on: connection
        )
        noteIndexed = try SQLiteStatement("UPDATE log_indexed SET seq = ?", on: connection)
    }

    /// How many rows the log has got since its index was brought up to date.
    var unindexedRowCount: Int { finder.unindexed.rowCount }

    /// Makes what is known of the log right, if it was forgotten; in a transaction, before anything that the log belongs to.
    mutating func refresh() throws(SQLiteError) {
        try finder.refreshIfStale()
        lastRow = max(lastRow, finder.unindexed.last)
    }

    /// What is known of the log need not be right any more.
    func forget() {
        finder.forget()
    }

    mutating func append(_ entry: LogEntry, sid: Int64) throws(SQLiteError) {
        defer { insertEntry.reset() }
        lastRow += 1
        try LogRow.insert(entry, row: lastRow, sid: sid, by: insertEntry)
        finder.add(version: Int64(clamping: entry.version), row: lastRow, of: sid)
    }

    /// Drops a session's entries before a version.
    func drop(before version: Int64, of sid: Int64) throws(SQLiteError) {
        for statement in [dropIndexedEntries, dropFromIndex] {
            defer { statement.reset() }
            try statement.bind(sid, at: 1)
            try statement.bind(version, at: 2)
            try statement.step()
        }
        for row in finder.remove(before: version, of: sid) {
            defer { dropEntry.reset() }
            try dropEntry.bind(row, at: 1)
            try dropEntry.step()
        }
    }

    /// Brings the index up to date.
    func index() throws(SQLiteError) {
        defer {
            extendIndex.reset()
            noteIndexed.reset()
        }
        try extendIndex.bind(finder.unindexed.indexedTo, at: 1)
        try extendIndex.step()
        try noteIndexed.bind(finder.unindexed.last, at: 1)
        try noteIndexed.step()
        finder.didIndex()
    }
}
