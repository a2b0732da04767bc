internal import RivuletSessions

/// The reads of the table `answer` on one connection.
struct AnswerStatements {
    private let byID: SQLiteStatement
    private let usage: SQLiteStatement
    private let path: String

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        byID = try SQLiteStatement(
            "SELECT \(AnswerRow.columns) FROM answer WHERE sid = ? AND id = ?",
            on: connection
        )
        usage = try SQLiteStatement(
            """
            SELECT count(*), sum(length(CAST(id AS BLOB)) + length(print) + length(body)), min(time)
                FROM answer WHERE sid = ? AND time >= ?
            """,
            on: connection
        )
        path = connection.path
    }

    func answer(sid: Int64, id: String) throws(SQLiteError) -> KeptAnswer? {
        defer { byID.reset() }
        try byID.bind(sid, at: 1)
        try byID.bind(id, at: 2)
        return try byID.step() ? try AnswerRow.answer(in: byID, path: path) : nil
    }

    func usage(sid: Int64, since time: Int64) throws(SQLiteError) -> KeptAnswersUsage {
        defer { usage.reset() }
        try usage.bind(sid, at: 1)
        try usage.bind(time, at: 2)
        try usage.step()
        return KeptAnswersUsage(
            count: Int(usage.integer(0)),
            byteCount: Int(usage.integer(1)),
            oldest: usage.isNull(2) ? nil : usage.integer(2)
        )
    }
}
