internal import CSQLite

/// One prepared statement; used on its connection's thread.
///
/// Parameters are numbered from 1, columns from 0, as in SQLite.
@safe final class SQLiteStatement {
    // SAFETY: `handle` is valid from init to deinit and does not leave this type; `connection` outlives it.
    private let handle: OpaquePointer
    private let connection: SQLiteConnection

    init(_ sql: String, on connection: SQLiteConnection) throws(SQLiteError) {
        var prepared: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            connection.handle,
            sql,
            -1,
            UInt32(SQLITE_PREPARE_PERSISTENT),
            &prepared,
            nil
        )
        guard code == SQLITE_OK, let prepared = unsafe prepared else {
            throw connection.failure(code, "prepare \"\(sql)\"")
        }
        unsafe handle = prepared
        self.connection = connection
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    private var sql: String { unsafe String(cString: sqlite3_sql(handle)) }

    func bind(_ value: Int64, at index: Int32) throws(SQLiteError) {
        try connection.check(unsafe sqlite3_bind_int64(handle, index, value), "bind to \"\(sql)\"")
    }

    func bind(_ bytes: [UInt8], at index: Int32) throws(SQLiteError) {
        let code = unsafe bytes.withUnsafeBytes { buffer in
            unsafe rivulet_sqlite_bind_blob(handle, index, buffer.baseAddress, UInt64(buffer.count))
        }
        try connection.check(code, "bind to \"\(sql)\"")
    }

    func bind(_ text: String?, at index: Int32) throws(SQLiteError) {
        guard var text else {
            return try connection.check(unsafe sqlite3_bind_null(handle, index), "bind to \"\(sql)\"")
        }
        let code = text.withUTF8 { utf8 in
            unsafe utf8.withMemoryRebound(to: CChar.self) { characters in
                unsafe rivulet_sqlite_bind_text(handle, index, characters.baseAddress, UInt64(characters.count))
            }
        }
        try connection.check(code, "bind to \"\(sql)\"")
    }

    /// Binds bytes without a copy; they must stay valid until the statement is reset, and must be bound again before
    /// the next run.
    @unsafe
    func bind(inPlace bytes: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteError) {
        let code = unsafe rivulet_sqlite_bind_blob_in_place(handle, index, bytes.baseAddress, UInt64(bytes.count))
        try connection.check(code, "bind to \"\(sql)\"")
    }

    /// Binds the UTF-8 of a text without a copy, under the conditions of `bind(inPlace:at:)`.
    @unsafe
    func bind(textInPlace utf8: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteError) {
        let code = unsafe rivulet_sqlite_bind_text_in_place(handle, index, utf8.baseAddress, UInt64(utf8.count))
        try connection.check(code, "bind to \"\(sql)\"")
    }

    /// Steps to the next row; returns false if there is none.
    @discardableResult
    func step() throws(SQLiteError) -> Bool {
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw connection.failure(code, "step \"\(sql)\"")
        }
    }

    /// Resets the statement, so that it can run again; an error of the reset was already thrown by `step()`.
    func reset() {
        _ = unsafe sqlite3_reset(handle)
    }

    func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    /// Returns a blob, or the UTF-8 of a text exactly as it is stored.
    func bytes(_ column: Int32) -> [UInt8] { unsafe Array(bytesInPlace(column)) }

    func text(_ column: Int32) -> String { unsafe String(decoding: bytesInPlace(column), as: UTF8.self) }

    /// Returns the same bytes in SQLite's memory, which are valid until the next step or reset of the statement.
    @unsafe
    func bytesInPlace(_ column: Int32) -> UnsafeRawBufferPointer {
        guard let start = unsafe sqlite3_column_blob(handle, column) else {
            return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return unsafe UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }
}
