// A database for stores alone, that is open as soon as it is there.

internal import RivuletSessions

extension SQLiteStorageEngine {
    /// Opens the database `databaseFilename.sqlite3` in a directory, and makes both where they are missing; nil when that fails.
    ///
    /// The filename has no "/". Use `start()` where the reason of a failure matters; a server needs neither, its own engine keeps stores
    /// as well. `clock` gives milliseconds since 1970-01-01T00:00:00Z, nil: the system's clock.
    /// Source: <Tests/Rows/Systems.md#e-29>.
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
