internal import RivuletSessions

/// The databases that are a node's copy of a cluster's data.
///
/// A backup of such a database keeps its row in the table `replica`. So a restored copy belongs to the same cluster,
/// stands at the position of the backup, and continues from there with the cluster's log, or with a base.
enum ReplicaFolder {
    /// The remedy for a copy that cannot be used any more.
    static func remedy(of databasePath: String) -> String {
        let folder = databasePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return "stop the node, and delete the folder \(folder.joined(separator: "/")); the node copies the data again"
    }

    /// Adds the remedy to damage, which on a node is always damage of the whole copy.
    static func error(_ error: StorageError, of databasePath: String) -> StorageError {
        guard case .corrupt(_, let detail) = error else { return error }
        let remedy = remedy(of: databasePath)
        return .corrupt(nil, detail: detail.hasSuffix(remedy) ? detail : "\(detail): \(remedy)")
    }

    /// Refuses the database of another use before the write-ahead log is recovered, which would change its files.
    ///
    /// A database that cannot be read is refused later, with more details.
    static func check(
        _ databasePath: String,
        for use: DatabaseUse,
        limits: SQLiteStorageLimits
    ) throws(StorageError) {
        do throws(SQLiteError) {
            guard let (connection, layout) = try open(databasePath, limits) else { return }
            try use.check(connection, layout: layout)
        } catch {
            guard case .refused(.incompatible(let detail)) = error else { return }
            throw .incompatible(detail: detail)
        }
    }

    /// Returns true if a database is a node's copy of a cluster's data.
    ///
    /// A database that cannot be read gives false, and its next use reports the cause.
    static func holdsReplica(_ databasePath: String) -> Bool {
        do throws(SQLiteError) {
            guard let (connection, layout) = try open(databasePath, SQLiteStorageLimits()) else { return false }
            return try ReplicaRow.cluster(in: connection, layout: layout) != nil
        } catch {
            return false
        }
    }

    /// Returns true if a database has sessions or items; a database with neither can begin as a copy.
    static func hasContent(_ connection: SQLiteConnection, layout: Int64) throws(SQLiteError) -> Bool {
        for table in ["session"] + (layout < SQLiteSchema.itemsLayout ? [] : ["item"])
        where try connection.integer("SELECT 1 FROM \(table) NOT INDEXED LIMIT 1") != nil {
            return true
        }
        return false
    }

    /// Opens a database to read it; nil if it does not exist or is empty.
    private static func open(
        _ path: String,
        _ limits: SQLiteStorageLimits
    ) throws(SQLiteError) -> (SQLiteConnection, layout: Int64)? {
        guard DataFolderFiles.byteCount(of: path) > 0 else { return nil }
        let wait = limits.lockWaitMilliseconds
        let connection = try SQLiteConnection(path: path, access: .readOnly, lockWaitMilliseconds: wait)
        return try SQLiteSchema.checkOrigin(of: connection).map { (connection, $0) }
    }
}
