internal import RivuletSessions

/// A kept answer as a row.
enum AnswerRow {
    /// The columns that `answer(in:)` reads, in its order.
    static let columns = "sid, id, time, crc, print, body"

    /// A later answer takes the place of one with the same id.
    static let insertion = "INSERT OR REPLACE INTO answer(\(columns)) VALUES (?, ?, ?, ?, ?, ?)"

    /// Binds all columns to a prepared `insertion`.
    static func bind(_ answer: KeptAnswer, sid: Int64, to statement: SQLiteStatement) throws(SQLiteError) {
        try statement.bind(sid, at: 1)
        try statement.bind(answer.id, at: 2)
        try statement.bind(answer.time, at: 3)
        try statement.bind(checksum(of: answer, sid: sid), at: 4)
        try statement.bind(answer.fingerprint, at: 5)
        try statement.bind(answer.body, at: 6)
    }

    /// Reads the row that a statement over `columns` stands on, and checks it.
    static func answer(in statement: SQLiteStatement, path: String) throws(SQLiteError) -> KeptAnswer {
        let sid = statement.integer(0)
        let answer = KeptAnswer(
            id: statement.text(1),
            time: statement.integer(2),
            fingerprint: statement.bytes(4),
            body: statement.bytes(5)
        )
        guard checksum(of: answer, sid: sid) == statement.integer(3) else {
            throw .damaged(detail: "a kept answer fails its checksum", path: path)
        }
        return answer
    }

    private static func checksum(of answer: KeptAnswer, sid: Int64) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(sid)
        checksum.add(answer.id)
        checksum.add(answer.time)
        checksum.add(answer.fingerprint)
        checksum.add(answer.body)
        return checksum.stored
    }
}
