// Owns the databases that stores without a server keep in the data folder.

public import RivuletSQLite
public import RivuletSessions
import Synchronization

extension SQLiteStorageEngine {
    private static let opened = Mutex<[String: SQLiteStorageEngine]>([:])

    /// The database of a path below a data folder; nil: below RIVULET_DATA, or `./data` where that is not set.
    ///
    /// It is opened by the first call of a process, shared by all, and stays open until the process ends or somebody closes it; then the
    /// next call opens it anew. Source: <Tests/Rows/Systems.md#e-29>.
    /// - Throws: what `start()` throws.
    public static func `default`(
        appendingPath path: String,
        dataFolder: String? = nil
    ) throws(StorageError) -> SQLiteStorageEngine {
        let folder = ProcessFolder.path(dataFolder) + "/" + path
        return try opened.withLock { opened throws(StorageError) in
            if let engine = opened[folder], engine.isOpen { return engine }
            let engine = SQLiteStorageEngine(folder: folder)
            try engine.start()
            opened[folder] = engine
            return engine
        }
    }
}
