// This file opens the databases in the data folder that values, states and stores use without a server.

public import RivuletSQLite
public import RivuletSessions
import Synchronization

extension SQLiteStorageEngine {
    private static let opened = Mutex<[String: SQLiteStorageEngine]>([:])

    /// Returns the database at a path below a data folder.
    ///
    /// A nil `dataFolder` means RIVULET_DATA, or `./data` if that is not set. The first call of a process opens the
    /// database, and all callers share it. It stays open until the process ends or a caller closes it; the next call
    /// then opens it again. Source: <Tests/Rows/Systems.md#e-29>.
    /// - Throws: The error of `start()`.
    public static func `default`(
        appendingPath path: String,
        dataFolder: String? = nil
    ) throws(StorageError) -> SQLiteStorageEngine {
        let folder = ProcessFolder.path(dataFolder) + "/" + path
        return try opened.withLock { opened throws(StorageError) in
            if let engine = opened[folder], engine.isOpen { return engine }
            var limits = SQLiteStorageLimits()
            // Only a server's database reserves disk space for deletions.
            limits.reserveBytes = 0
            let engine = SQLiteStorageEngine(folder: folder, limits: limits)
            try engine.start()
            opened[folder] = engine
            return engine
        }
    }
}
