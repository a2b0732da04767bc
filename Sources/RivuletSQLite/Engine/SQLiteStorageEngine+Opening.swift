// A database for stores alone, which is open after its init.

internal import RivuletSessions

extension SQLiteStorageEngine {
    /// Opens the database `databaseFilename.sqlite3` in a directory, and creates both if they do not exist; nil if that
    /// fails.
    ///
    /// The filename must not contain "/". If you need the reason of a failure, use another `init` and `start()`. A
    /// server needs no such database, because its engine also keeps its stores. `clock` gives milliseconds since
    /// 1970-01-01T00:00:00Z; nil is the system's clock. Source: <Tests/Rows/Systems.md#e-29>.
    public convenience init?(
        directory: String,
        databaseFilename: String = "data",
        limits: SQLiteStorageLimits = SQLiteStorageLimits(),
        clock: (@Sendable () -> Int64)? = nil
    ) {
        guard !databaseFilename.isEmpty, !databaseFilename.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
        else { return nil }
        self.init(folder: directory, filename: databaseFilename + DataFolder.namedSuffix, limits: limits, clock: clock)
        do throws(StorageError) {
            try start()
        } catch {
            return nil
        }
    }
}
