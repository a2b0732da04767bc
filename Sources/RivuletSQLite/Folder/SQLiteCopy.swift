internal import CSQLite
internal import Glibc
internal import RivuletSessions

/// Copies of databases, each as of one moment and without the pages that nothing uses.
///
/// Source: <https://sqlite.org/lang_vacuum.html#vacuuminto>
enum SQLiteCopy {
    /// Writes a copy into a new file; it is on disk when this returns, its name is when its folder is synced.
    ///
    /// A server goes on meanwhile: its checkpoints do not wait for this reader, so its write-ahead log grows.
    static func write(_ connection: SQLiteConnection, to path: String) throws(StorageError) {
        try DataFolder.makeFile(path)
        let pacer = try WritePacer(path)
        do throws(SQLiteError) {
            // The copy is written with it, too: text that moves between its pages leaves nothing behind.
            try connection.execute("PRAGMA secure_delete = ON")
            try connection.withProgress(pacer) { () throws(SQLiteError) in
                try connection.execute(
                    "VACUUM INTO '\(path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'"
                )
            }
            try finish(path)
        } catch {
            // SQLite names the database that is read.
            if error.isFull { throw .full(detail: "cannot write \(path): the disk is full; free space there") }
            throw error.storageError(for: nil)
        }
        try pacer.sync()
    }

    /// Gives a copy the write-ahead log that a server's database has; on disk when this returns.
    ///
    /// A backup stays without: SQLite reads a database with a log only where it may write beside it.
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

    /// Erases what was deleted before the copy, and notes that nothing deleted is in it.
    private static func finish(_ path: String) throws(SQLiteError) {
        let copy = try SQLiteConnection(path: path, access: .readWriteCreate, lockWaitMilliseconds: 0)
        guard try SQLiteSchema.readableLayout(of: copy) == SQLiteSchema.version else { return }
        for setting in ["journal_mode = MEMORY", "synchronous = OFF", "secure_delete = ON"] {
            try copy.execute("PRAGMA \(setting)")
        }
        try eraseAll(on: copy)
        try copy.execute(SQLiteSchema.noteSecured)
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

/// Has the disk take a growing file piece by piece, so that the commits of a server beside it do not wait for all of it at once.
final class WritePacer {
    private let descriptor: Int32
    private let path: String
    private var syncedTo: off_t = 0

    /// The bytes that are written between two syncs.
    private static let pieceBytes: off_t = 4 << 20

    init(_ path: String) throws(StorageError) {
        self.path = path
        descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw DataFolder.failure("cannot open \(path)", errno) }
    }

    deinit {
        _ = close(descriptor)
    }

    /// Syncs the file if it has grown by a piece; a failure is that of the last sync as well.
    func didProgress() {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_size - syncedTo >= Self.pieceBytes else { return }
        syncedTo = status.st_size
        _ = fdatasync(descriptor)
    }

    /// Syncs all of it.
    func sync() throws(StorageError) {
        guard fsync(descriptor) == 0 else { throw DataFolder.failure("cannot sync \(path)", errno) }
    }
}

extension SQLiteConnection {
    /// Runs a long statement, and lets a pacer look at its file now and then.
    ///
    /// Source: <https://sqlite.org/c3ref/progress_handler.html>
    func withProgress(_ pacer: WritePacer, _ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        // SAFETY: the pacer outlives the handler, which is taken away before this returns and called on this thread only.
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
