internal import RivuletSessions

/// The writes to the log on one connection; each runs inside a transaction that the caller owns.
struct LogStatements {
    private let finder: LogFinder
    private let insertEntry: SQLiteStatement
    private let insertEntryWithCaller: SQLiteStatement
    private let dropIndexedEntries: SQLiteStatement
    private let dropFromIndex: SQLiteStatement
    private let dropEntry: SQLiteStatement
    private let extendIndex: SQLiteStatement
    private let recordIndexed: SQLiteStatement
    /// The row of the last entry; this writer uses no number twice, so that the reader recognizes new entries by their
    /// numbers.
    private var lastRow: Int64 = 0
    private var recent = RecentEntries()

    init(_ connection: SQLiteConnection, finder: LogFinder) throws(SQLiteError) {
        self.finder = finder
        insertEntry = try SQLiteStatement(LogRow.insertion, on: connection)
        insertEntryWithCaller = try SQLiteStatement(LogRow.insertionWithCaller, on: connection)
        dropIndexedEntries = try SQLiteStatement(
            "DELETE FROM log WHERE seq IN (SELECT seq FROM log_index WHERE sid = ?1 AND v < ?2) AND sid = ?1 AND v < ?2",
            on: connection
        )
        dropFromIndex = try SQLiteStatement("DELETE FROM log_index WHERE sid = ? AND v < ?", on: connection)
        dropEntry = try SQLiteStatement("DELETE FROM log WHERE seq = ?", on: connection)
        // The rows are ordered, so that each page of the index is written once. If another program made two entries of
        // one version, the first one is used.
        extendIndex = try SQLiteStatement(
            """
            INSERT OR IGNORE INTO log_index(sid, v, seq) SELECT sid, v, seq FROM log WHERE seq > ? ORDER BY sid, v, seq
            """,
            on: connection
        )
        recordIndexed = try SQLiteStatement("UPDATE log_indexed SET seq = ?", on: connection)
    }

    /// The number of rows that were added to the log since its index was last updated.
    var unindexedRowCount: Int { finder.unindexed.rowCount }

    /// Reads the state of the log again if it was forgotten.
    ///
    /// This must run in a transaction, before any other use of the log.
    mutating func refresh() throws(SQLiteError) {
        guard try finder.refreshIfStale() else { return }
        lastRow = max(lastRow, finder.unindexed.last)
        recent.reset(to: finder.unindexed, finder.lost)
    }

    /// Forgets the state of the log, because it may be outdated.
    func forget() {
        finder.forget()
    }

    mutating func append(_ entry: LogEntry, sid: Int64) throws(SQLiteError) {
        let insertion = entry.by == nil ? insertEntry : insertEntryWithCaller
        defer { insertion.reset() }
        lastRow += 1
        let version = Int64(clamping: entry.version)
        let earlier = recent.replace(at: lastRow, sid: sid, version: version)
        try LogRow.insert(entry, row: lastRow, sid: sid, after: earlier, by: insertion)
        finder.add(version: version, row: lastRow, of: sid)
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

    /// Updates the index.
    func index() throws(SQLiteError) {
        defer {
            extendIndex.reset()
            recordIndexed.reset()
        }
        try extendIndex.bind(finder.unindexed.indexedTo, at: 1)
        try extendIndex.step()
        try recordIndexed.bind(finder.unindexed.last, at: 1)
        try recordIndexed.step()
        finder.didIndex()
    }
}
