internal import RivuletSessions

/// A log entry as a row.
enum LogRow {
    /// Returns the columns in the order in which `entry(in:)` reads them; a query names the table `log` as `l`.
    static func columns(of layout: Int64) -> String {
        let caller = layout >= SQLiteSchema.callersLayout ? "l.caller" : "NULL"
        return "l.sid, l.v, l.time, l.crc, l.cmd, l.event, l.changes, \(caller)"
    }

    /// The expression for an entry's `LogEntry.byteCount`; a query names the table `log` as `l`.
    ///
    /// The length of a blob is in the row's header, so large blobs are not read.
    static func size(of layout: Int64) -> String {
        let caller = layout >= SQLiteSchema.callersLayout ? " + coalesce(length(CAST(l.caller AS BLOB)), 0)" : ""
        return "length(l.event) + length(l.changes) + coalesce(length(CAST(l.cmd AS BLOB)), 0)\(caller)"
    }

    /// The statement that inserts an entry without a caller.
    static let insertion =
        "INSERT INTO log(seq, sid, v, time, crc, cmd, event, changes, earlier_sid, earlier_v) "
        + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

    /// The statement that inserts an entry with a caller.
    static let insertionWithCaller =
        "INSERT INTO log(seq, sid, v, time, crc, cmd, event, changes, earlier_sid, earlier_v, caller) "
        + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

    /// Runs a prepared `insertion`, or `insertionWithCaller` for an entry with a caller.
    ///
    /// The statement must be reset afterwards, because the entry's bytes are bound without a copy.
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
        if let by = entry.by { try statement.bind(by, at: 11) }
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

    /// Reads the current row of a statement over `columns(of:)`, and checks it.
    static func entry(in statement: SQLiteStatement, path: String) throws(SQLiteError) -> LogEntry {
        let sid = statement.integer(0)
        let entry = LogEntry(
            version: UInt64(clamping: statement.integer(1)),
            time: statement.integer(2),
            commandID: statement.isNull(4) ? nil : statement.text(4),
            by: statement.isNull(7) ? nil : statement.text(7),
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
        // Rows of earlier layouts have no caller, and their checksums end here.
        if let by = entry.by { checksum.add(by) }
        return checksum.stored
    }
}
