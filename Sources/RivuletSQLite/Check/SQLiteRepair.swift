internal import Glibc
public import RivuletSessions

/// The repair of damaged indexes in a data folder that no server uses.
///
/// A repair never deletes a row. It builds each damaged database anew from the rows of its tables, and keeps the old
/// file.
public enum SQLiteRepair {
    /// The result of a repair: the steps that were done, and the damage that remains.
    public struct Outcome: Hashable, Sendable {
        /// A line for each step.
        public internal(set) var lines: [String] = []
        /// The damage to rows, which a repair cannot undo; a backup may have the undamaged rows.
        public internal(set) var remaining: [String] = []
    }

    /// Repairs every damaged database of a data folder.
    ///
    /// `time` is in milliseconds since 1970-01-01T00:00:00Z, and is part of the copies' names.
    /// - Throws: `.unavailable` if there is no database, or if a server or another program uses one. `.corrupt` if
    ///   tables are damaged. `.full` if there is no space for two copies. The database with the error is not rebuilt,
    ///   but earlier databases of the folder are.
    public static func run(folder: String, time: Int64) throws(StorageError) -> Outcome {
        try DataFolder.refuseCopy(in: folder)
        let databases = try DataFolderFiles(in: folder).distinctDatabases(in: folder)
        guard !databases.isEmpty else {
            throw .unavailable(detail: "there is no database of Rivulet's in \(folder): name a data folder with --data")
        }
        var outcome = Outcome()
        for database in databases { try repair(folder + "/" + database, time, &outcome) }
        return outcome
    }

    private static func repair(_ path: String, _ time: Int64, _ outcome: inout Outcome) throws(StorageError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let parent = parts.dropLast().joined(separator: "/")
        let folder = try DataFolder(path: parent, filename: parts.last.map(String.init) ?? "")
        let database = folder.databasePath
        guard !DataFolderFiles.isLink(database) else {
            throw .unavailable(detail: "\(database) is a symbolic link: name the folder of its file with --data")
        }
        guard !ReplicaFolder.holdsReplica(database) else {
            throw .incompatible(
                detail: "\(database) is a node's copy of a cluster's data. A repair could make it differ from the "
                    + "other copies, so it was left as it is: \(ReplicaFolder.remedy(of: database))"
            )
        }
        let recovery = try LogRecovery(of: database, requiresClean: false, time: time)
        if recovery.renewsEpochs { try recovery.renewEpochs(in: database) }
        if let warning = recovery.warning { outcome.lines.append(warning) }
        let damages = try SQLiteCheck.damages(of: database)
        guard !damages.isEmpty else { return outcome.lines.append("\(database) has no damage") }
        var rebuild: DatabaseRebuild
        do throws(SQLiteError) {
            rebuild = try DatabaseRebuild(of: database)
        } catch {
            throw error.storageError(for: nil)
        }
        guard rebuild.isNeeded else {
            outcome.remaining += damages.map { "\(database): \($0)" }
            return
        }
        let kept = DataFolder.unusedPath(database + ".before-repair-" + DataFolder.stamp(time))
        _ = try BackupFile.copy(database, to: kept)
        try DataFolder.synchronizeFolder(parent)
        outcome.lines.append("\(database) was copied to \(kept)")
        do throws(StorageError) {
            try rebuild.write()
        } catch {
            // The first error is more informative.
            do throws(StorageError) { try DataFolder.removeVacuum(of: database) } catch {}
            throw error
        }
        guard unsafe rename(rebuild.target, database) == 0 else {
            throw DataFolder.failure("cannot rename \(rebuild.target)", errno)
        }
        try DataFolder.synchronizeFolder(parent)
        outcome.lines += rebuild.lines
        outcome.remaining += try SQLiteCheck.damages(of: database).map { "\(database): \($0)" }
    }
}
