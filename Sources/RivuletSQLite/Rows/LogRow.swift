internal import RivuletSessions

/// A log entry as a row.
enum LogRow {
    /// The columns in the order in which `entry(in:)` reads them; a query names the table `log` as `l`.
    static let columns = "l.sid, l.v, l.time, l.crc, l.cmd, l.event, l.changes"

    static let insertion =
        "INSERT INTO log(seq, sid, v, time, crc, cmd, event, changes, earlier_sid, earlier_v) "
        + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

    /// Runs a prepared `insertion`, which must be reset afterwards, because the entry's bytes are bound without a copy.
    static func insert(
        _ entry: LogEntry,
        row: Int64,
        sid: Int64,
        after earlier: RecentEntries.Entry,
        by statement: SQLiteStatement
    ) throws(SQLiteError) {
        try statement.bind(row, at: 1)
        try statement.bind(sid, at: 2)
        try statement.bind(Int64(clamping: entry.version), at: 3)
        try statement.bind(entry.time, at: 4)
        try statement.bind(checksum(of: entry, sid: sid), at: 5)
        try statement.bind(entry.commandID, at: 6)
        try statement.bind(earlier.sid, at: 9)
        try statement.bind(earlier.version, at: 10)
        try unsafe entry.event.span.bytes.withUnsafeBytes { event throws(SQLiteError) in
            try unsafe entry.changes.span.bytes.withUnsafeBytes { changes throws(SQLiteError) in
                // SAFETY: both stay valid until the row is written, and the statement is not run again without new
                // bytes.
                try unsafe statement.bind(inPlace: event, at: 7)
                try unsafe statement.bind(inPlace: changes, at: 8)
                try statement.step()
            }
        }
    }

    /// Reads the current row of a statement over `columns`, and checks it.
    static func entry(in statement: SQLiteStatement, path: String) throws(SQLiteError) -> LogEntry {
        let sid = statement.integer(0)
        let entry = LogEntry(
            version: UInt64(clamping: statement.integer(1)),
            time: statement.integer(2),
            commandID: statement.isNull(4) ? nil : statement.text(4),
            event: statement.bytes(5),
            changes: statement.bytes(6)
        )
        guard checksum(of: entry, sid: sid) == statement.integer(3) else {
            throw .damaged(detail: "the log entry of version \(entry.version) fails its checksum", path: path)
        }
        return entry
    }

    private static func checksum(of entry: LogEntry, sid: Int64) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(sid)
        checksum.add(Int64(clamping: entry.version))
        checksum.add(entry.time)
        checksum.add(entry.commandID)
        checksum.add(entry.event)
        checksum.add(entry.changes)
        return checksum.stored
    }
}
