internal import Glibc
public import RivuletSessions
public import RivuletStores

/// Reads the sessions of a data folder, also while a server uses it.
///
/// The folder is not locked and nothing in it is changed; SQLite may make its shared-memory file beside the database.
/// Source: <https://sqlite.org/wal.html#read_only_databases>
public final class SQLiteStorageInspection: StorageInspection {
    private let reader: SQLiteReader

    /// Opens the database in `folder`.
    ///
    /// - Throws: `.unavailable` when there is none or it cannot be opened, `.incompatible` when it is not ours or of another layout.
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

    /// The apps that sessions are stored of, in the order of their names.
    public func apps() throws(StorageError) -> [String] {
        try answer(of: nil) { () throws(SQLiteError) in try reader.apps() }
    }

    /// The ids of an app's sessions after an id, in the order of their bytes; at most `limit`.
    public func sessions(app: String, after id: String?, limit: Int) throws(StorageError) -> [String] {
        try answer(of: nil) { () throws(SQLiteError) in
            try reader.sessions(app: app, after: id, limit: limit).map(\.id)
        }
    }

    /// The newest snapshot and every later entry; nil when there is no such session.
    ///
    /// - Throws: `.corrupt` when a part of this session is damaged.
    public func load(_ key: SessionKey) throws(StorageError) -> StoredSession? {
        try answer(of: key) { () throws(SQLiteError) in try reader.load(key) }
    }

    /// The items of a collection, in the order in which their keys came, and what of them is damaged.
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
