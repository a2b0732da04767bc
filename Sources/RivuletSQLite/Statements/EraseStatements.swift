internal import RivuletSessions

/// The marks of deleted sessions, and the erasure of their rows; each call runs inside a transaction that the caller
/// owns.
///
/// A session is marked when it is deleted. From then on it has no name, so no reader finds its rows. A new session of
/// the same name has another number. The rows are erased in steps, because `secure_delete` writes zeros over their
/// pages.
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
    /// The maximum number of bytes of a step; a row uses the bytes of the pages that its deletion changes.
    private let stepBytes: Int

    /// The number of sessions that are marked and not erased.
    private(set) var pendingCount: Int
    /// The change of the pending count in the current transaction.
    private var pendingChange = 0
    /// The sessions that could not be erased since the start, because their rows are damaged.
    private var skipped: Set<Int64> = []
    /// The part in which the current step is; nil outside of parts.
    private var current: Part?
    /// True if the marks could not be read since the start.
    private var areMarksUnreadable = false
    /// True if the last step failed outside of all parts.
    private var hasFailedOutside = false

    /// A part of the erasure that can fail separately.
    enum Part: Equatable {
        /// The rows of one session, with its number.
        case session(Int64)
        /// The marks, without which no session can be erased.
        case marks
    }

    /// The error of a step, if it was not reported before.
    enum StepError: Equatable {
        /// The part is skipped until the next start.
        case skipped(Part)
        /// The step failed outside of these parts and is tried again.
        case retried
    }

    /// The maximum number of sessions that are skipped; after that, nothing is erased until the next start.
    private static let skippedMax = 1_000
    /// The number of rows that are listed at once.
    private static let rowsMax: Int64 = 256

    init(_ connection: SQLiteConnection, finder: LogFinder, stepBytesMax: Int) throws(SQLiteError) {
        self.finder = finder
        // Half of the limit, because the bytes of changed pages are only estimated.
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

    /// True if a step would find something to erase.
    var hasWork: Bool { !areMarksUnreadable && pendingCount > skipped.count && skipped.count < Self.skippedMax }

    /// Marks a session after its name was removed.
    mutating func add(_ sid: Int64) throws(SQLiteError) {
        defer { mark.reset() }
        try mark.bind(sid, at: 1)
        try mark.step()
        pendingChange += 1
    }

    /// Marks all sessions, and removes their names.
    mutating func addAll(on connection: SQLiteConnection) throws(SQLiteError) {
        pendingChange += Int(try connection.integer("SELECT count(*) FROM session NOT INDEXED") ?? 0)
        try connection.execute("INSERT OR REPLACE INTO erasing(sid) SELECT sid FROM session NOT INDEXED")
        try connection.execute("DELETE FROM session")
    }

    /// Updates the state after the transaction was committed.
    mutating func didCommit() {
        pendingCount += pendingChange
        pendingChange = 0
    }

    /// Updates the state after the transaction was rolled back.
    mutating func didRollBack() {
        pendingChange = 0
    }

    /// Skips the part in which the last step failed, until the next start.
    ///
    /// - Returns: nil if the failure is temporary, or if this step and the previous step failed outside of all parts.
    mutating func skip(isTemporary: Bool) -> StepError? {
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

    /// Erases rows up to the limit of one step.
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

    /// Erases rows of a session up to the limit of bytes; returns false if rows are left.
    private mutating func erase(_ sid: Int64, _ bytes: inout Int) throws(SQLiteError) -> Bool {
        // A session with a name is not deleted. So the mark is damaged, and must not delete the session.
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
        for location in finder.unindexed.locations(of: sid) {
            let size = try sizeOfEntry(at: location.row, sid)
            let row = ErasedRow(row: location.row, byteCount: size, version: location.version)
            guard try erase(row, of: log, sid, after: previous, &bytes) else { return false }
            _ = finder.remove(before: location.version + 1, of: sid)
            previous = location.row
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

    /// Erases one row; returns false if the bytes of this step are used up.
    private func erase(
        _ row: ErasedRow,
        of table: ErasedTable,
        _ sid: Int64,
        after previous: Int64?,
        _ bytes: inout Int
    ) throws(SQLiteError) -> Bool {
        let pageBytes = row.pageBytes(after: previous)
        // A row that is larger than a step has its own step.
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

/// A row to erase.
private struct ErasedRow {
    let row: Int64
    let byteCount: Int
    /// The version of a log entry; 0 in other tables.
    let version: Int64

    /// Estimates the bytes of pages that the deletion changes; consecutive rows share a page.
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
