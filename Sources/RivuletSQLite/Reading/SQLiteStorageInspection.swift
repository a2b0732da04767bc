internal import Glibc
public import RivuletSessions
public import RivuletStores

/// Reads the sessions of a data folder, also while a server uses it.
///
/// The folder is not locked, and its files are not changed. SQLite may create its shared-memory file beside the
/// database. Source: <https://sqlite.org/wal.html#read_only_databases>
public final class SQLiteStorageInspection: StorageInspection {
    private let reader: SQLiteReader

    /// Opens the database in `folder`.
    ///
    /// - Throws: `.unavailable` if there is no database or it cannot be opened. `.incompatible` if it is not a Rivulet
    ///   database, or has a layout that this version does not read.
    public init(folder: String, limits: SQLiteStorageLimits = SQLiteStorageLimits()) throws(StorageError) {
        let path = DataFolder.databasePath(in: folder)
        guard unsafe access(path, R_OK) == 0 else {
            let detail = "there is no database \(path) that can be read; name the data folder of a server"
            throw .unavailable(detail: detail)
        }
        do throws(SQLiteError) {
            reader = try SQLiteReader(
                path: path,
                limits: limits,
                queue: WorkQueue(requestsMax: 0, bytesMax: 0),
                checksOrigin: true
            ) { nil }
        } catch {
            throw error.storageError(for: nil)
        }
    }

    /// Returns the apps that have stored sessions, in the order of their names.
    public func apps() throws(StorageError) -> [String] {
        try answer(of: nil) { () throws(SQLiteError) in try reader.apps() }
    }

    /// Returns the ids of an app's sessions after an id, in the order of their bytes; at most `limit`.
    public func sessions(app: String, after id: String?, limit: Int) throws(StorageError) -> [String] {
        try answer(of: nil) { () throws(SQLiteError) in
            try reader.sessions(app: app, after: id, limit: limit).map(\.id)
        }
    }

    /// Returns the newest snapshot and every later entry; nil if there is no such session.
    ///
    /// - Throws: `.corrupt` if a part of this session is damaged.
    public func load(_ key: SessionKey) throws(StorageError) -> StoredSession? {
        try answer(of: key) { () throws(SQLiteError) in try reader.load(key) }
    }

    /// Returns the items of a collection, in the order in which their keys were added, and their damage.
    public func items(of collection: String) throws(StorageError) -> StoredCollection {
        try answer(of: nil) { () throws(SQLiteError) in try reader.items(of: collection, withKeys: false).contents }
    }

    private func answer<Value>(
        of key: SessionKey?,
        _ body: () throws(SQLiteError) -> Value
    ) throws(StorageError) -> Value {
        do throws(SQLiteError) {
            return try body()
        } catch {
            throw error.storageError(for: key)
        }
    }
}
