internal import CSQLite
internal import Glibc
internal import RivuletSessions

/// Functions that copy a database as a snapshot of one moment, without unused pages.
///
/// Source: <https://sqlite.org/lang_vacuum.html#vacuuminto>
enum SQLiteCopy {
    /// Writes a copy into a new file, which is on disk when this returns.
    ///
    /// The file's name is durable only after its folder is synced. A server may write to the database meanwhile. Its
    /// write-ahead log grows until the copy is finished, because SQLite does not restart a log that a connection reads.
    static func write(_ connection: SQLiteConnection, to path: String) throws(StorageError) {
        try DataFolder.makeFile(path)
        let pacer = try WritePacer(path)
        do throws(SQLiteError) {
            // The setting also applies to the copy, so that text that moves between its pages leaves no traces.
            try connection.execute("PRAGMA secure_delete = ON")
            try connection.withProgress(pacer) { () throws(SQLiteError) in
                try connection.execute(
                    "VACUUM INTO '\(path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'"
                )
            }
            try finish(path)
        } catch {
            // SQLite's error names the database that is read, not the copy.
            if error.isFull { throw .full(detail: "cannot write \(path): the disk is full; free space there") }
            throw error.storageError(for: nil)
        }
        try pacer.sync()
    }

    /// Switches a copy to a write-ahead log, as in a server's database.
    ///
    /// The change is on disk when this returns.
    ///
    /// A backup has no such log, because SQLite reads a database with a log only if it may write beside it.
    /// Source: <https://sqlite.org/wal.html#read_only_databases>
    static func useLog(_ path: String) throws(StorageError) {
        do throws(SQLiteError) {
            let copy = try SQLiteConnection(path: path, access: .readWriteCreate, lockWaitMilliseconds: 0)
            try copy.execute("PRAGMA journal_mode = WAL")
        } catch {
            throw error.storageError(for: nil)
        }
        try WritePacer(path).sync()
    }

    /// Erases sessions that were deleted before the copy, and marks the copy as free of deleted data.
    private static func finish(_ path: String) throws(SQLiteError) {
        let copy = try SQLiteConnection(path: path, access: .readWriteCreate, lockWaitMilliseconds: 0)
        guard try SQLiteSchema.readableLayout(of: copy) == SQLiteSchema.version else { return }
        for setting in ["journal_mode = MEMORY", "synchronous = OFF", "secure_delete = ON"] {
            try copy.execute("PRAGMA \(setting)")
        }
        try eraseAll(on: copy)
        try copy.execute(SQLiteSchema.recordSecured)
    }

    /// Erases every deleted session of a database that no server uses.
    static func eraseAll(on connection: SQLiteConnection) throws(SQLiteError) {
        var statements = try WriteStatements(
            connection,
            limits: SQLiteStorageLimits(),
            sharedKeys: SharedKeys(keysMax: 0)
        )
        while statements.erasing.hasWork {
            try connection.execute("BEGIN IMMEDIATE")
            try statements.erase()
            try connection.execute("COMMIT")
            _ = statements.didCommit()
        }
    }
}

/// Syncs a growing file piece by piece, so that the commits of a server on the same disk never wait for the whole file.
final class WritePacer {
    private let descriptor: Int32
    private let path: String
    private var syncedTo: off_t = 0

    /// The number of bytes that are written between two syncs.
    private static let pieceBytes: off_t = 4 << 20

    init(_ path: String) throws(StorageError) {
        self.path = path
        descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw DataFolder.failure("cannot open \(path)", errno) }
    }

    deinit {
        _ = close(descriptor)
    }

    /// Syncs the file if it has grown by a piece.
    ///
    /// An error is ignored here, because the last sync reports it too.
    func didProgress() {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_size - syncedTo >= Self.pieceBytes else { return }
        syncedTo = status.st_size
        _ = fdatasync(descriptor)
    }

    /// Syncs the whole file.
    func sync() throws(StorageError) {
        guard fsync(descriptor) == 0 else { throw DataFolder.failure("cannot sync \(path)", errno) }
    }
}

extension SQLiteConnection {
    /// Runs a long statement, during which a pacer checks its file at intervals.
    ///
    /// Source: <https://sqlite.org/c3ref/progress_handler.html>
    func withProgress(_ pacer: WritePacer, _ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        // SAFETY: the pacer outlives the handler, which is removed before this returns and called on this thread only.
        let context = unsafe Unmanaged.passUnretained(pacer).toOpaque()
        unsafe sqlite3_progress_handler(
            handle,
            100,
            { context in
                if let context = unsafe context {
                    unsafe Unmanaged<WritePacer>.fromOpaque(context).takeUnretainedValue().didProgress()
                }
                return 0
            },
            context
        )
        defer { unsafe sqlite3_progress_handler(handle, 0, nil, nil) }
        try body()
    }
}
