internal import CPageChecksums
internal import CSQLite
internal import Glibc

/// One connection; used by one thread at a time, and closed when it and its last statement are released.
///
/// Source: <https://sqlite.org/c3ref/open.html>
@safe final class SQLiteConnection {
    // SAFETY: `handle` is valid from init to deinit. Outside of this type only `SQLiteStatement` uses it, which keeps
    // the connection alive. `walPagesCell` is allocated in init, written only by the hook on the connection's own
    // thread, and freed after the connection that has its address.
    let handle: OpaquePointer
    private let walPagesCell: UnsafeMutablePointer<Int32>
    private let lockWaitMilliseconds: Int32

    let path: String
    /// The lookups that avoid damaged indexes.
    let detours = Detours()

    enum Access {
        case readWriteCreate
        case readOnly
    }

    init(path: String, access: Access, lockWaitMilliseconds: Int) throws(SQLiteError) {
        self.path = path
        self.lockWaitMilliseconds = Int32(clamping: lockWaitMilliseconds)
        let registration = page_checksums_register()
        guard registration == SQLITE_OK else {
            let message = unsafe Self.message(of: nil, code: registration)
            throw .failed(call: "register the page checksums", code: registration, message: message, path: path)
        }
        let mode = access == .readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var opened: OpaquePointer?
        let flags = mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(path, &opened, flags, PAGE_CHECKSUMS_VFS)
        guard code == SQLITE_OK, let opened = unsafe opened else {
            let message = unsafe Self.message(of: opened, code: code)
            unsafe sqlite3_close_v2(opened)
            throw .failed(call: "open", code: code, message: message, path: path)
        }
        unsafe handle = opened
        unsafe walPagesCell = .allocate(capacity: 1)
        unsafe walPagesCell.initialize(to: 0)
        unsafe sqlite3_busy_timeout(handle, self.lockWaitMilliseconds)
        // Readers leave checkpoints to the writer: before SQLite 3.51.3, checkpoints of two connections can lose pages.
        if access == .readOnly { try forbidCheckpointOnClose() }
        try reservePageChecksums()
    }

    deinit {
        unsafe sqlite3_close_v2(handle)
        unsafe walPagesCell.deallocate()
    }

    /// The number of pages of the write-ahead log after the last commit, if `countWALPages()` was called.
    var walPages: Int { Int(unsafe walPagesCell.pointee) }

    /// A number that changes with each commit of this or any other connection.
    ///
    /// The read does no I/O, so the number is current only inside a transaction.
    ///
    /// Source: <https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion>
    var dataVersion: UInt32 {
        var version: UInt32 = 0
        // The call fails only for a database that is not attached. The argument nil names the main database, which is
        // always attached.
        _ = unsafe sqlite3_file_control(handle, nil, SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }

    /// The state of the page checksums of the database file.
    private var pageChecksums: page_checksums_state {
        var state = page_checksums_state()
        // The call fails only for a file that was never opened. Then the state stays empty.
        _ = unsafe sqlite3_file_control(handle, nil, Int32(page_checksums_control), &state)
        return state
    }

    /// The first byte of the last page that failed its checksum.
    var failedPageKind: UInt8 { pageChecksums.failed_kind }

    /// Enables page checksums in a database that has no table yet, and in copies of the database; an older file stays
    /// without checksums.
    ///
    /// Source: <https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntlreservebytes>
    func reservePageChecksums() throws(SQLiteError) {
        var bytes = Int32(page_checksums_reserved_bytes)
        try check(unsafe sqlite3_file_control(handle, nil, SQLITE_FCNTL_RESERVE_BYTES, &bytes), "reserve bytes")
    }

    /// True if a transaction is open; SQLite itself ends a transaction after some errors.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// The id of the row that was inserted last.
    var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// Runs one statement and ignores its rows.
    func execute(_ sql: String) throws(SQLiteError) {
        let statement = try SQLiteStatement(sql, on: self)
        while try statement.step() {}
    }

    /// Returns the first column of the first row as an integer; nil if there is no row.
    func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try SQLiteStatement(sql, on: self)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Returns the first column of the first row as text; nil if there is no row.
    func text(_ sql: String) throws(SQLiteError) -> String? {
        let statement = try SQLiteStatement(sql, on: self)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Updates `walPages` from now on; disables SQLite's automatic checkpoints.
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

    /// The kind of a checkpoint.
    enum Checkpoint {
        /// Copies the pages that no reader holds back.
        case passive
        /// Also makes the next commit restart the log.
        case restart
        /// Also truncates the log's file.
        case truncate

        fileprivate var mode: Int32 {
            switch self {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .restart: SQLITE_CHECKPOINT_RESTART
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        }
    }

    /// Copies the write-ahead log into the database; returns false if a reader stopped it, and the next checkpoint
    /// continues there.
    ///
    /// A checkpoint waits for readers only for the given time, because commits wait for the checkpoint.
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

    /// Throws the error of a failed call.
    func check(_ code: Int32, _ call: @autoclosure () -> String) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw failure(code, call()) }
    }

    func failure(_ code: Int32, _ call: String) -> SQLiteError {
        let message = unsafe Self.message(of: handle, code: code)
        // SQLite's own message is only "disk I/O error".
        let isPage = rivulet_sqlite_is_page_fault(code) != 0
        let words = isPage ? "page \(pageChecksums.failed_page) fails its checksum" : message
        return .failed(call: call, code: code, message: words, path: path)
    }

    private static func message(of handle: OpaquePointer?, code: Int32) -> String {
        // The connection's message is about its last call, which may be a different call.
        guard let handle = unsafe handle, unsafe sqlite3_extended_errcode(handle) == code else {
            return unsafe String(cString: sqlite3_errstr(code))
        }
        let message = unsafe String(cString: sqlite3_errmsg(handle))
        guard [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xff) else { return message }
        let cause = SQLiteProcess.takeCause(of: code) ?? (unsafe rivulet_sqlite_cause(handle))
        guard cause != 0 else { return message }
        return message + ": " + (unsafe String(cString: strerror(cause)))
    }
}
