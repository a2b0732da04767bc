internal import RivuletSessions

/// The marks of deleted sessions, and the erasing of their rows; each call runs inside a transaction that the caller owns.
///
/// A mark is made when the session is deleted. The session has no name from then on, so no reader finds its rows, and a new session
/// of the same name has another number. The rows go in steps, because `secure_delete` writes zeros over every page that they had.
struct EraseStatements {
    private let finder: LogFinder
    private let mark: SQLiteStatement
    private let marks: SQLiteStatement
    private let unmark: SQLiteStatement
    private let isStored: SQLiteStatement
    private let indexed: SQLiteStatement
    private let entry: SQLiteStatement
    private let deleteFromIndex: SQLiteStatement
    private let log: ErasedTable
    private let others: [ErasedTable]
    /// The bytes of a step, of which each row takes those of the pages that it changes.
    private let stepBytes: Int

    /// The sessions that are marked and not erased.
    private(set) var pendingCount: Int
    /// The pending count's change in the transaction under way.
    private var pendingChange = 0
    /// The sessions that could not be erased since the start; their rows are damaged.
    private var skipped: Set<Int64> = []
    /// The part in which the step under way is; nil: in none.
    private var current: Part?
    /// Whether the marks could not be read since the start.
    private var areMarksUnreadable = false
    /// Whether a step has failed in no part since the last one that did not.
    private var hasFailedOutside = false

    /// A part of the erasing that fails by itself.
    enum Part: Equatable {
        /// The rows of one session, with its number.
        case session(Int64)
        /// The marks, and with them all sessions.
        case marks
    }

    /// A failed step that is new to the log.
    enum Failure: Equatable {
        /// The part is left alone until the next start.
        case skipped(Part)
        /// The step failed outside of these parts, and is tried again.
        case retried
    }

    /// The sessions that could not be erased, at most; after so many the next start tries again.
    private static let skippedMax = 1_000
    /// The rows that are listed at once.
    private static let rowsMax: Int64 = 256

    init(_ connection: SQLiteConnection, finder: LogFinder, stepBytesMax: Int) throws(SQLiteError) {
        self.finder = finder
        // Half of them: the pages between rows are counted roughly.
        stepBytes = max(1, stepBytesMax / 2)
        mark = try SQLiteStatement("INSERT OR REPLACE INTO erasing(sid) VALUES (?)", on: connection)
        marks = try SQLiteStatement("SELECT sid FROM erasing ORDER BY sid", on: connection)
        unmark = try SQLiteStatement("DELETE FROM erasing WHERE sid = ?", on: connection)
        isStored = try SQLiteStatement("SELECT 1 FROM session WHERE sid = ?", on: connection)
        let size = "length(l.event) + length(l.changes)"
        indexed = try SQLiteStatement(
            """
            SELECT i.seq, coalesce(\(size), 0), i.v FROM log_index i LEFT JOIN log l ON l.seq = i.seq AND l.sid = i.sid
                WHERE i.sid = ? ORDER BY i.v LIMIT ?
            """,
            on: connection
        )
        entry = try SQLiteStatement("SELECT \(size) FROM log l WHERE l.seq = ? AND l.sid = ?", on: connection)
        deleteFromIndex = try SQLiteStatement("DELETE FROM log_index WHERE sid = ? AND v <= ?", on: connection)
        log = try ErasedTable("log", key: "seq", size: "0", on: connection)
        others = [
            try ErasedTable("answer", key: "row", size: "length(print) + length(body)", on: connection),
            try ErasedTable("snapshot", key: "row", size: "length(body)", on: connection),
            try ErasedTable("older_snapshot", key: "row", size: "length(body)", on: connection),
        ]
        pendingCount = Int(try connection.integer("SELECT count(*) FROM erasing") ?? 0)
    }

    /// Whether a step would find something to erase.
    var hasWork: Bool { !areMarksUnreadable && pendingCount > skipped.count && skipped.count < Self.skippedMax }

    /// Marks a session whose name is gone.
    mutating func add(_ sid: Int64) throws(SQLiteError) {
        defer { mark.reset() }
        try mark.bind(sid, at: 1)
        try mark.step()
        pendingChange += 1
    }

    /// The transaction was committed.
    mutating func didCommit() {
        pendingCount += pendingChange
        pendingChange = 0
    }

    /// The transaction was rolled back.
    mutating func didRollBack() {
        pendingChange = 0
    }

    /// Leaves the part alone in which the last step has failed, until the next start.
    ///
    /// - Returns: nil when the failure is a temporary one, or the step failed in no part, as the one before did.
    mutating func skip(isTemporary: Bool) -> Failure? {
        defer { current = nil }
        if isTemporary { return nil }
        switch current {
        case .session(let sid): skipped.insert(sid)
        case .marks: areMarksUnreadable = true
        case nil:
            defer { hasFailedOutside = true }
            return hasFailedOutside ? nil : .retried
        }
        return current.map { .skipped($0) }
    }

    /// Erases as much as one step may write.
    mutating func step() throws(SQLiteError) {
        var bytes = stepBytes
        hasFailedOutside = false
        current = .marks
        while bytes > 0, let sid = try next() {
            current = .session(sid)
            let isWhole = try erase(sid, &bytes)
            current = .marks
            guard isWhole else { break }
            defer { unmark.reset() }
            try unmark.bind(sid, at: 1)
            try unmark.step()
            pendingChange -= 1
        }
        current = nil
    }

    // MARK: - Parts

    private func next() throws(SQLiteError) -> Int64? {
        defer { marks.reset() }
        while try marks.step() {
            if !skipped.contains(marks.integer(0)) { return marks.integer(0) }
        }
        return nil
    }

    /// Erases a session as far as the bytes go; false: there is more of it.
    private mutating func erase(_ sid: Int64, _ bytes: inout Int) throws(SQLiteError) -> Bool {
        // A session with a name is not deleted: the mark is damaged, and must not take the session with it.
        if try has(isStored, sid) { return true }
        guard try eraseIndexed(sid, &bytes), try eraseUnindexed(sid, &bytes) else { return false }
        for table in others {
            guard try eraseRows(of: table, sid, &bytes) else { return false }
        }
        return true
    }

    private mutating func eraseIndexed(_ sid: Int64, _ bytes: inout Int) throws(SQLiteError) -> Bool {
        while true {
            let rows = try list(indexed, sid)
            guard !rows.isEmpty else { return true }
            var last: Int64?
            var previous: Int64?
            var isWhole = true
            for row in rows {
                guard try erase(row, of: log, sid, after: previous, &bytes) else {
                    isWhole = false
                    break
                }
                (last, previous) = (row.version, row.row)
            }
            if let last {
                defer { deleteFromIndex.reset() }
                try deleteFromIndex.bind(sid, at: 1)
                try deleteFromIndex.bind(last, at: 2)
                try deleteFromIndex.step()
            }
            guard isWhole else { return false }
        }
    }

    private mutating func eraseUnindexed(_ sid: Int64, _ bytes: inout Int) throws(SQLiteError) -> Bool {
        var previous: Int64?
        for place in finder.unindexed.places(of: sid) {
            let size = try sizeOfEntry(at: place.row, sid)
            let row = ErasedRow(row: place.row, byteCount: size, version: place.version)
            guard try erase(row, of: log, sid, after: previous, &bytes) else { return false }
            _ = finder.remove(before: place.version + 1, of: sid)
            previous = place.row
        }
        return true
    }

    private mutating func eraseRows(
        of table: ErasedTable,
        _ sid: Int64,
        _ bytes: inout Int
    ) throws(SQLiteError) -> Bool {
        while true {
            let rows = try list(table.rows, sid)
            guard !rows.isEmpty else { return true }
            var previous: Int64?
            for row in rows {
                guard try erase(row, of: table, sid, after: previous, &bytes) else { return false }
                previous = row.row
            }
        }
    }

    /// Erases one row; false: the bytes of this step are used up.
    private func erase(
        _ row: ErasedRow,
        of table: ErasedTable,
        _ sid: Int64,
        after previous: Int64?,
        _ bytes: inout Int
    ) throws(SQLiteError) -> Bool {
        let pageBytes = row.pageBytes(after: previous)
        // A row that is larger than a step has one for itself.
        guard pageBytes <= bytes || bytes == stepBytes else {
            bytes = 0
            return false
        }
        bytes -= pageBytes
        try table.delete(row.row, sid)
        return true
    }

    private func list(_ statement: SQLiteStatement, _ sid: Int64) throws(SQLiteError) -> [ErasedRow] {
        defer { statement.reset() }
        try statement.bind(sid, at: 1)
        try statement.bind(Self.rowsMax, at: 2)
        var rows: [ErasedRow] = []
        while try statement.step() {
            rows.append(
                ErasedRow(
                    row: statement.integer(0),
                    byteCount: Int(statement.integer(1)),
                    version: statement.integer(2)
                )
            )
        }
        return rows
    }

    private func sizeOfEntry(at row: Int64, _ sid: Int64) throws(SQLiteError) -> Int {
        defer { entry.reset() }
        try entry.bind(row, at: 1)
        try entry.bind(sid, at: 2)
        return try entry.step() ? Int(entry.integer(0)) : 0
    }

    private func has(_ statement: SQLiteStatement, _ sid: Int64) throws(SQLiteError) -> Bool {
        defer { statement.reset() }
        try statement.bind(sid, at: 1)
        return try statement.step()
    }
}

/// A row that is to be erased.
private struct ErasedRow {
    let row: Int64
    let byteCount: Int
    /// The version of a log entry; 0 in other tables.
    let version: Int64

    /// About how many bytes of pages the deletion changes; a row beside the one before shares a page with it.
    func pageBytes(after previous: Int64?) -> Int {
        let isBeside = previous.map { row == $0 + 1 } ?? false
        return byteCount + (isBeside && byteCount < 1_024 ? 64 : SQLiteSchema.pageBytes)
    }
}

/// A table with rows of sessions.
private struct ErasedTable {
    let rows: SQLiteStatement
    private let deletion: SQLiteStatement

    /// `size` is an expression for the bytes of a row.
    init(_ name: String, key: String, size: String, on connection: SQLiteConnection) throws(SQLiteError) {
        rows = try SQLiteStatement("SELECT \(key), \(size), 0 FROM \(name) WHERE sid = ? LIMIT ?", on: connection)
        deletion = try SQLiteStatement("DELETE FROM \(name) WHERE \(key) = ? AND sid = ?", on: connection)
    }

    func delete(_ row: Int64, _ sid: Int64) throws(SQLiteError) {
        defer { deletion.reset() }
        try deletion.bind(row, at: 1)
        try deletion.bind(sid, at: 2)
        try deletion.step()
    }
}
