// Part of Rivulet. See README.md for the architecture.
// What the engine says of the text of deleted sessions.

public import RivuletSessions

extension SQLiteStorageEngine: ErasingStorageEngine {
    /// The number of deleted sessions whose text is still in the files of the data folder.
    public var sessionsToEraseCount: Int { sharedErasure.pendingCount }

    /// Warnings for the log of a start: deleted text that may be in the files, and what other users may read, each with its remedy.
    ///
    /// The other databases of the folder are opened for it, such as that of values.
    public var startNotices: [String] { folderNotices + databaseNotices }

    /// Has a closure called, on a thread of the engine, with a line for the log when a deleted session cannot be erased.
    public func onErasingTrouble(_ report: @escaping @Sendable (String) -> Void) {
        sharedErasure.onTrouble(report)
    }

    private var databaseNotices: [String] {
        do throws(StorageError) {
            return try DataFolderFiles(in: location).databases.compactMap(notice)
        } catch {
            return ["cannot look for databases of older versions in \(location): \(error)"]
        }
    }

    private func notice(of database: String) -> String? {
        let path = location + "/" + database
        do throws(SQLiteError) {
            let isSecured =
                database == filename ? sharedErasure.isSecured : try SQLiteSchema.isSecured(at: path, limits: limits)
            guard !isSecured else { return nil }
            return "the database \(path) was made by an older version, so text that was deleted may still be in it: "
                + "stop the programs that use it and run \"rivulet vacuum --data \(location)\" once"
        } catch {
            return "cannot tell whether the text of deletions leaves the database \(path): \(error)"
        }
    }
}
