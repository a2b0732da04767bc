// The engine's reports about the text of deleted sessions.

public import RivuletSessions

extension SQLiteStorageEngine: ErasingStorageEngine {
    /// The number of deleted sessions that still have text in the files of the data folder.
    public var sessionsToEraseCount: Int { sharedErasure.pendingCount }

    /// The warnings for the log at a start: deleted text that may be in files, and files that other users may read.
    ///
    /// Each warning has a remedy. To find the causes, the engine opens the other databases of the folder and of its
    /// subfolders `values` and `states`. Deeper folders are not searched.
    public var startNotices: [String] { folderNotices + databaseNotices }

    /// Sets a closure that receives a line for the log, on a thread of the engine, if a deleted session cannot be
    /// erased.
    public func onErasingTrouble(_ report: @escaping @Sendable (String) -> Void) {
        sharedErasure.onTrouble(report)
    }

    private var databaseNotices: [String] {
        // If another database cannot be read, the warning about the engine's own database is reported nevertheless.
        let own = sharedErasure.isSecured ? [] : [remedy(of: filename)]
        let files = DataFolderFiles(atStartIn: location)
        let others = files.databases.filter { $0 != filename }
        let unread = files.skipped.map { "cannot look for a database of an older version in \(location): \($0)" }
        return own + others.compactMap(notice) + unread
    }

    private func notice(of database: String) -> String? {
        let path = location + "/" + database
        do throws(SQLiteError) {
            return try SQLiteSchema.isSecured(at: path, limits: limits) ? nil : remedy(of: database)
        } catch {
            return "cannot tell whether deletions erase their text from the database \(path): \(error)"
        }
    }

    private func remedy(of database: String) -> String {
        "the database \(location)/\(database) was made by an older version, so text that was deleted may still be in it: "
            + "stop the programs that use it and run \"rivulet vacuum --data \(location)\" once"
    }
}
