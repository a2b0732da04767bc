/// The unindexed entries on damaged pages that no later entry names.
///
/// An entry also names the session and the version of the entry 64 rows before it. So later pages name the entries of a
/// damaged page, except for the newest entries.
struct LostEntries {
    /// An entry, with its session.
    struct Entry {
        let row: Int64
        let sid: Int64
        let version: Int64
    }

    /// The distance in rows between an entry and the earlier entry that it names.
    static let distance: Int64 = 64
    /// The session number in an entry if its writer did not know the earlier entry.
    static let unknownSID: Int64 = -1

    /// The last row of which nothing is known; nil if there is no such row.
    private(set) var lastUnknownRow: Int64?
    /// True if the end of the log is lost, so that the number of entries there is unknown.
    private(set) var isEndLost = false
    /// The rows of which nothing is known.
    private(set) var unknownRows: [Int64] = []

    /// True if unknown sessions may have lost entries.
    var hasUnknown: Bool { isEndLost || lastUnknownRow != nil }

    /// Returns true if a session's last entry comes after all lost rows.
    ///
    /// If no earlier version is missing either, the session has lost no entry.
    func isBehind(_ last: UnindexedEntries.Location?) -> Bool {
        guard !isEndLost, let last else { return false }
        return last.row > lastUnknownRow ?? 0
    }

    fileprivate mutating func addUnknown(_ row: Int64) {
        lastUnknownRow = row
        unknownRows.append(row)
    }

    fileprivate mutating func loseEnd() { isEndLost = true }
}

/// Reads the readable unindexed entries, page by page, outside of a transaction, because a failed page would end the
/// transaction.
struct LogSalvage {
    private let rows: SQLiteStatement
    private let row: SQLiteStatement
    private let lastRow: SQLiteStatement
    /// The query for the entry that a later row names; nil in layouts in which entries name no earlier entries.
    private let laterRow: SQLiteStatement?

    /// The number of rows that are searched after a lost page while the end of the log is unknown.
    private static let rowsBehindMax: Int64 = 1_024

    init(_ connection: SQLiteConnection, layout: Int64) throws(SQLiteError) {
        // The condition is `>=` and not `>`: with `>`, SQLite would first read the previous row's page, which may be
        // damaged.
        rows = try SQLiteStatement("SELECT seq, sid, v FROM log WHERE seq >= ? ORDER BY seq", on: connection)
        row = try SQLiteStatement("SELECT seq, sid, v FROM log WHERE seq = ?", on: connection)
        lastRow = try SQLiteStatement("SELECT max(seq) FROM log", on: connection)
        let named = "SELECT earlier_sid, earlier_v FROM log WHERE seq = ?"
        let hasNames = layout >= SQLiteSchema.earlierEntriesLayout
        laterRow = hasNames ? try SQLiteStatement(named, on: connection) : nil
    }

    /// Returns the entries after a row in their order, including the entries of damaged pages that later entries name.
    func entries(after indexedTo: Int64) throws(SQLiteError) -> (entries: [LostEntries.Entry], lost: LostEntries) {
        var entries: [LostEntries.Entry] = []
        var lost = LostEntries()
        var lostRows: [Int64] = []
        var position = indexedTo
        while try !read(after: &position, &entries) {
            let end = try readable { () throws(SQLiteError) in try integer(lastRow) }
            if end == nil { lost.loseEnd() }
            // This loop searches for the next row that can be read.
            let last = end ?? position + Self.rowsBehindMax
            var next = position + 1
            search: while next <= last {
                switch try entry(at: next) {
                case .lost: lostRows.append(next)
                case .absent: break
                case .read: break search
                }
                next += 1
            }
            if next > last { break }
            position = next - 1
        }
        let end = entries.last?.row ?? indexedTo
        for row in lostRows where !lost.isEndLost || row <= end {
            if let entry = try entry(lostAt: row) {
                if entry.sid != 0 { entries.append(entry) }
            } else {
                lost.addUnknown(row)
            }
        }
        return (entries.sorted { $0.row < $1.row }, lost)
    }

    private enum Found {
        case read
        case absent
        case lost
    }

    /// Reads up to the end or a damaged page; returns true at the end.
    private func read(after position: inout Int64, _ entries: inout [LostEntries.Entry]) throws(SQLiteError) -> Bool {
        defer { rows.reset() }
        try rows.bind(position + 1, at: 1)
        do throws(SQLiteError) {
            while try rows.step() {
                position = rows.integer(0)
                entries.append(LostEntries.Entry(row: position, sid: rows.integer(1), version: rows.integer(2)))
            }
            return true
        } catch {
            guard error.isPageDamage else { throw error }
            return false
        }
    }

    private func entry(at number: Int64) throws(SQLiteError) -> Found {
        let isThere = try readable { () throws(SQLiteError) in
            defer { row.reset() }
            try row.bind(number, at: 1)
            return try row.step()
        }
        return isThere.map { $0 ? .read : .absent } ?? .lost
    }

    /// Returns the session and version of a lost row, as stored in the row that names it.
    ///
    /// - Returns: nil if the lost row is not known; session 0 if there was no such row.
    private func entry(lostAt number: Int64) throws(SQLiteError) -> LostEntries.Entry? {
        guard let laterRow else { return nil }
        let found = try readable { () throws(SQLiteError) -> (sid: Int64, version: Int64)? in
            defer { laterRow.reset() }
            try laterRow.bind(number + LostEntries.distance, at: 1)
            guard try laterRow.step(), !laterRow.isNull(0) else { return nil }
            return (laterRow.integer(0), laterRow.integer(1))
        }
        guard case let named?? = found, named.sid != LostEntries.unknownSID else { return nil }
        return LostEntries.Entry(row: number, sid: named.sid, version: named.version)
    }

    private func integer(_ statement: SQLiteStatement) throws(SQLiteError) -> Int64 {
        defer { statement.reset() }
        try statement.step()
        return statement.integer(0)
    }

    /// Returns the result of a closure; nil if a page that it reads is damaged.
    private func readable<Value>(_ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value? {
        do throws(SQLiteError) {
            return try body()
        } catch {
            guard error.isPageDamage else { throw error }
            return nil
        }
    }
}
