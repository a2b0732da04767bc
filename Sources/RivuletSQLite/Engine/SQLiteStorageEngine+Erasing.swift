// What the engine says of the text of deleted sessions.

public import RivuletSessions

extension SQLiteStorageEngine: ErasingStorageEngine {
    /// The number of deleted sessions whose text is still in the files of the data folder.
    public var sessionsToEraseCount: Int { sharedErasure.pendingCount }

    /// Warnings for the log of a start: deleted text that may be in the files, and what other users may read, each with its remedy.
    ///
    /// The other databases of the folder, and of its folders `values` and `states`, are opened for it. Deeper ones are not looked for.
    public var startNotices: [String] { folderNotices + databaseNotices }

    /// Has a closure called, on a thread of the engine, with a line for the log when a deleted session cannot be erased.
    public func onErasingTrouble(_ report: @escaping @Sendable (String) -> Void) {
        sharedErasure.onTrouble(report)
    }

    private var databaseNotices: [String] {
        // What it cannot read beside it does not hide the server's own database.
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
            return "cannot tell whether the text of deletions leaves the database \(path): \(error)"
        }
    }

    private func remedy(of database: String) -> String {
        "the database \(location)/\(database) was made by an older version, so text that was deleted may still be in it: "
            + "stop the programs that use it and run \"rivulet vacuum --data \(location)\" once"
    }
}
