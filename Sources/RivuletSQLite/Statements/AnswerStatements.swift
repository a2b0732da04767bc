internal import RivuletSessions

/// The reads of the table `answer` on one connection.
struct AnswerStatements {
    private let byID: SQLiteLookup
    private let usage: SQLiteLookup
    private let path: String

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        byID = try SQLiteLookup(on: connection) {
            "SELECT \(AnswerRow.columns) FROM answer\($0) WHERE sid = ? AND id = ?"
        }
        usage = try SQLiteLookup(on: connection) {
            """
            SELECT count(*), sum(length(CAST(id AS BLOB)) + length(print) + length(body)), min(time)
                FROM answer\($0) WHERE sid = ? AND time >= ?
            """
        }
        path = connection.path
    }

    func answer(sid: Int64, id: String) throws(SQLiteError) -> IdempotencyRecord? {
        try byID.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            try row.bind(id, at: 2)
            return try row.step() ? try AnswerRow.answer(in: row, path: path) : nil
        }
    }

    func usage(sid: Int64, since time: Int64) throws(SQLiteError) -> IdempotencyUsage {
        try usage.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            try row.bind(time, at: 2)
            try row.step()
            return IdempotencyUsage(
                count: Int(row.integer(0)),
                byteCount: Int(row.integer(1)),
                oldest: row.isNull(2) ? nil : row.integer(2)
            )
        }
    }
}
