internal import RivuletSessions

/// An idempotency record as a row.
enum AnswerRow {
    /// The columns that `answer(in:)` reads, in its order.
    static let columns = "sid, id, time, crc, print, body"

    /// The statement that inserts a record, and replaces one with the same id.
    static let insertion = "INSERT OR REPLACE INTO answer(\(columns)) VALUES (?, ?, ?, ?, ?, ?)"

    /// Binds all columns to a prepared `insertion`.
    static func bind(_ answer: IdempotencyRecord, sid: Int64, to statement: SQLiteStatement) throws(SQLiteError) {
        try statement.bind(sid, at: 1)
        try statement.bind(answer.id, at: 2)
        try statement.bind(answer.time, at: 3)
        try statement.bind(checksum(of: answer, sid: sid), at: 4)
        try statement.bind(answer.fingerprint, at: 5)
        try statement.bind(answer.body, at: 6)
    }

    /// Reads the current row of a statement over `columns`, and checks it.
    static func answer(in statement: SQLiteStatement, path: String) throws(SQLiteError) -> IdempotencyRecord {
        let sid = statement.integer(0)
        let answer = IdempotencyRecord(
            id: statement.text(1),
            time: statement.integer(2),
            fingerprint: statement.bytes(4),
            body: statement.bytes(5)
        )
        guard checksum(of: answer, sid: sid) == statement.integer(3) else {
            throw .damaged(detail: "an idempotency record fails its checksum", path: path)
        }
        return answer
    }

    static func checksum(of answer: IdempotencyRecord, sid: Int64) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(sid)
        checksum.add(answer.id)
        checksum.add(answer.time)
        checksum.add(answer.fingerprint)
        checksum.add(answer.body)
        return checksum.stored
    }
}
