internal import Glibc
public import RivuletSessions

/// The vacuum of a data folder that no server uses.
public enum SQLiteVacuum {
    /// The result of the vacuum of one database.
    public struct Outcome: Hashable, Sendable {
        /// The path of the database.
        public let path: String
        /// The size of the database before the vacuum, in bytes.
        public let byteCountBefore: Int
        /// The size of the database after the vacuum, in bytes.
        public let byteCountAfter: Int
        /// True if deletions in this database erased their data even before this vacuum.
        public let wasSecured: Bool
    }

    /// Rewrites every database of a data folder without deleted data; from then on, deletions erase their data.
    ///
    /// The vacuum needs as much free space as the databases use. An older layout is updated, as at a server's start. A
    /// database with several paths is vacuumed once. The closure receives a line for each file or folder that could not
    /// be searched.
    /// - Throws: `.unavailable` if there is no database, the folder is a backup, or a server or another program uses a
    ///   database. `.full` if there is no space. The database with the error is not replaced, but
    ///   earlier databases of the folder are.
    public static func run(
        folder: String,
        limits: SQLiteStorageLimits = SQLiteStorageLimits(),
        onSkipped: (String) -> Void = { _ in }
    ) throws(StorageError) -> [Outcome] {
        try DataFolder.refuseCopy(in: folder)
        let files = try DataFolderFiles(in: folder)
        let databases = files.distinctDatabases(in: folder)
        guard !databases.isEmpty else {
            throw .unavailable(detail: "there is no database of Rivulet's in \(folder): name a data folder with --data")
        }
        for line in files.skipped { onSkipped(line) }
        var outcomes: [Outcome] = []
        for database in databases { outcomes.append(try vacuum(folder + "/" + database, limits)) }
        return outcomes
    }

    private static func vacuum(_ path: String, _ limits: SQLiteStorageLimits) throws(StorageError) -> Outcome {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let parent = parts.dropLast().joined(separator: "/")
        let folder = try DataFolder(path: parent, filename: parts.last.map(String.init) ?? "")
        let (database, copy) = (folder.databasePath, DataFolder.vacuumPath(of: folder.databasePath))
        guard !DataFolderFiles.isLink(database) else {
            throw .unavailable(detail: "\(database) is a symbolic link: name the folder of its file with --data")
        }
        if ReplicaFolder.holdsReplica(database) {
            _ = try LogRecovery(ofReplica: database)
        } else {
            _ = try LogRecovery(of: database, requiresClean: true, time: 0)
        }
        let before = DataFolderFiles.byteCount(of: database)
        let isSecured: Bool
        let connection: SQLiteConnection
        do throws(SQLiteError) {
            let wait = limits.lockWaitMilliseconds
            connection = try SQLiteConnection(path: database, access: .readWriteCreate, lockWaitMilliseconds: wait)
            try SQLiteSchema.prepareWriter(connection, limits: limits, for: .maintenance)
            isSecured = try SQLiteSchema.isSecured(connection)
            try SQLiteCopy.eraseAll(on: connection)
        } catch {
            throw error.storageError(for: nil)
        }
        do throws(StorageError) {
            try SQLiteCopy.write(connection, to: copy)
            try SQLiteCopy.useLog(copy)
            try leaveLog(of: connection)
        } catch {
            // The first error is more informative.
            do throws(StorageError) { try DataFolder.removeVacuum(of: database) } catch {}
            throw error
        }
        guard unsafe rename(copy, database) == 0 else { throw DataFolder.failure("cannot rename \(copy)", errno) }
        try DataFolder.synchronizeFolder(parent)
        let after = DataFolderFiles.byteCount(of: database)
        return Outcome(path: database, byteCountBefore: before, byteCountAfter: after, wasSecured: isSecured)
    }

    /// Ends the use of the write-ahead log, which would otherwise be applied to the new file.
    ///
    /// No other connection may read meanwhile.
    private static func leaveLog(of connection: SQLiteConnection) throws(StorageError) {
        do throws(SQLiteError) {
            if try connection.text("PRAGMA journal_mode = DELETE") == "delete" { return }
        } catch {
            throw error.storageError(for: nil)
        }
        throw .unavailable(
            detail: "another program reads \(connection.path), such as a backup: wait for its end, then try again"
        )
    }
}
