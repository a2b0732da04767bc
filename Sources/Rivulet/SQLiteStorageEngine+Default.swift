// Part of Rivulet. See README.md for the architecture.
// Owns the databases that stores without a server keep in the data folder.

import FoundationEssentials
public import RivuletSQLite
public import RivuletSessions
import Synchronization

extension SQLiteStorageEngine {
    private static let opened = Mutex<[String: SQLiteStorageEngine]>([:])

    /// The database of a path below a data folder; nil: below RIVULET_DATA, or `./data` where that is not set.
    ///
    /// It is opened by the first call of a process, shared by all, and stays open until the process ends. Source: spec/systems.md E-29.
    /// - Throws: what `start()` throws.
    public static func `default`(
        appendingPath path: String,
        dataFolder: String? = nil
    ) throws(StorageError) -> SQLiteStorageEngine {
        let named = ProcessInfo.processInfo.environment["RIVULET_DATA"].flatMap { $0.isEmpty ? nil : $0 }
        let folder = (dataFolder ?? named ?? "data") + "/" + path
        return try opened.withLock { opened throws(StorageError) in
            if let engine = opened[folder] { return engine }
            let engine = SQLiteStorageEngine(folder: folder)
            try engine.start()
            opened[folder] = engine
            return engine
        }
    }
}
