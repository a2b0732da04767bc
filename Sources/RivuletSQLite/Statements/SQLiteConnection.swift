internal import CSQLite

/// One connection; used by one thread at a time, closed when it and its last statement are gone.
///
/// Source: <https://sqlite.org/c3ref/open.html>
@safe final class SQLiteConnection {
    // SAFETY: `handle` is valid from init to deinit and does not leave this type but to `SQLiteStatement`, which keeps
    // the connection alive. `walPagesCell` is allocated in init, written by the hook on the connection's own thread
    // only, and freed after the connection that knows its address.
    let handle: OpaquePointer
    private let walPagesCell: UnsafeMutablePointer<Int32>
    private let lockWaitMilliseconds: Int32

    let path: String

    enum Access {
        case readWriteCreate
        case readOnly
    }

    init(path: String, access: Access, lockWaitMilliseconds: Int) throws(SQLiteError) {
        self.path = path
        self.lockWaitMilliseconds = Int32(clamping: lockWaitMilliseconds)
        let mode = access == .readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var opened: OpaquePointer?
        let flags = mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened = unsafe opened else {
            let message = unsafe Self.message(of: opened, code: code)
            unsafe sqlite3_close_v2(opened)
            throw .failed(call: "open", code: code, message: message, path: path)
        }
        unsafe handle = opened
        unsafe walPagesCell = .allocate(capacity: 1)
        unsafe walPagesCell.initialize(to: 0)
        unsafe sqlite3_busy_timeout(handle, self.lockWaitMilliseconds)
        // Readers leave checkpoints to the writer: before 3.51.3 two checkpointing connections can lose pages.
        if access == .readOnly { try forbidCheckpointOnClose() }
    }

    deinit {
        unsafe sqlite3_close_v2(handle)
        unsafe walPagesCell.deallocate()
    }

    /// The pages of the write-ahead log after the last commit, once `countWALPages()` was called.
    var walPages: Int { Int(unsafe walPagesCell.pointee) }

    /// A number that each commit changes, of this connection and of any other one; it is read without I/O, so inside a transaction.
    ///
    /// Source: <https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion>
    var dataVersion: UInt32 {
        var version: UInt32 = 0
        // It fails only for a database that is not attached; nil is the main one, which always is.
        _ = unsafe sqlite3_file_control(handle, nil, SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }

    /// Whether a transaction is open; SQLite ends one by itself after some errors.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// The id of the row that was inserted last.
    var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// Runs one statement whose rows do not matter.
    func execute(_ sql: String) throws(SQLiteError) {
        let statement = try SQLiteStatement(sql, on: self)
        while try statement.step() {}
    }

    /// The first column of the first row as an integer; nil when there is no row.
    func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try SQLiteStatement(sql, on: self)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// The first column of the first row as text; nil when there is no row.
    func text(_ sql: String) throws(SQLiteError) -> String? {
        let statement = try SQLiteStatement(sql, on: self)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Keeps `walPages` up to date; switches SQLite's own checkpoints off.
    func countWALPages() {
        _ = unsafe sqlite3_wal_hook(
            handle,
            { context, _, _, pages in
                unsafe context?.assumingMemoryBound(to: Int32.self).pointee = pages
                return SQLITE_OK
            },
            walPagesCell
        )
    }

    /// The purpose of a checkpoint beyond copying pages.
    enum Checkpoint {
        /// Copies what no reader holds back.
        case passive
        /// Also has the next commit begin the log anew.
        case restart
        /// Also empties the log's file.
        case truncate

        fileprivate var mode: Int32 {
            switch self {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .restart: SQLITE_CHECKPOINT_RESTART
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        }
    }

    /// Copies the write-ahead log into the database; false: a reader was in the way, and the next checkpoint goes on from there.
    ///
    /// It waits for readers as long as it is told, and not at all otherwise: commits wait for it.
    /// Source: <https://sqlite.org/c3ref/wal_checkpoint_v2.html>
    @discardableResult
    func checkpoint(_ kind: Checkpoint, waitingMilliseconds: Int = 0) throws(SQLiteError) -> Bool {
        unsafe sqlite3_busy_timeout(handle, Int32(clamping: waitingMilliseconds))
        defer { unsafe sqlite3_busy_timeout(handle, lockWaitMilliseconds) }
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, kind.mode, nil, nil)
        if code & 0xff == SQLITE_BUSY { return false }
        try check(code, "checkpoint")
        return true
    }

    /// Leaves the write-ahead log as it is when this connection closes.
    func forbidCheckpointOnClose() throws(SQLiteError) {
        try check(unsafe rivulet_sqlite_forbid_checkpoint_on_close(handle), "db_config")
    }

    /// Throws what a call failed with.
    func check(_ code: Int32, _ call: @autoclosure () -> String) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw failure(code, call()) }
    }

    func failure(_ code: Int32, _ call: String) -> SQLiteError {
        .failed(call: call, code: code, message: unsafe Self.message(of: handle, code: code), path: path)
    }

    private static func message(of handle: OpaquePointer?, code: Int32) -> String {
        // The connection's own message is about its last call, which may be another one.
        if let handle = unsafe handle, unsafe sqlite3_extended_errcode(handle) == code {
            return unsafe String(cString: sqlite3_errmsg(handle))
        }
        return unsafe String(cString: sqlite3_errstr(code))
    }
}

/// The settings of SQLite that are the process's.
package enum SQLiteProcess {
    /// Has SQLite take no lock at each allocation, for which it does not count its memory; for the program, before its first thread.
    ///
    /// A library must not call it: another user of SQLite in the process may want the count.
    /// Source: <https://sqlite.org/compile.html#recommended_compile_time_options>
    package static func forbidMemoryCount() { rivulet_sqlite_forbid_memory_count() }
}
