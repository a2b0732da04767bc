internal import Glibc
public import RivuletSessions

/// The search for damage in a data folder, which writes nothing.
public enum SQLiteCheck {
    /// Reads every database of a data folder; returns a line for each damage, with the affected sessions.
    ///
    /// The check may run beside a server. It reads the write-ahead log only if no server uses the database, because a
    /// server checks the log itself when it starts.
    /// - Throws: `.unavailable` if a database cannot be read, `.incompatible` if a database has a newer layout.
    public static func run(folder: String) throws(StorageError) -> [String] {
        let files = try DataFolderFiles(in: folder)
        var damages: [String] = []
        for name in files.distinctDatabases(in: folder) {
            let path = folder + "/" + name
            if let line = try damageOfLog(of: path) { damages.append("\(name)-wal: \(line)") }
            damages += try self.damages(of: path).map { "\(name): \($0)" }
        }
        return damages
    }

    /// Returns a line for each damage of one database.
    static func damages(of path: String) throws(StorageError) -> [String] {
        do throws(SQLiteError) {
            var verifier = try DatabaseVerifier(path: path)
            try verifier.verify()
            return verifier.damages
        } catch {
            let error = error.storageError(for: nil)
            guard case .corrupt(_, let detail) = error else { throw error }
            return [detail]
        }
    }

    private static func damageOfLog(of path: String) throws(StorageError) -> String? {
        guard DataFolderModes.mode(of: path + "-wal") != nil else { return nil }
        // A server that uses the database has an exclusive lock. The shared lock taken here would refuse a server that
        // starts meanwhile, so it is held only while the log is read.
        let descriptor = unsafe open(DataFolder.lockPath(of: path), O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { _ = close(descriptor) } }
        if descriptor >= 0, flock(descriptor, LOCK_SH | LOCK_NB) != 0 { return nil }
        guard case .damaged(let frames, let commits)? = try LogFile(of: path).walk()?.verdict else { return nil }
        if ReplicaFolder.holdsReplica(path), try !LogRecovery.isReplicaDamaged(path) { return nil }
        return "\(commits) commits in \(frames) frames follow a damaged frame or header"
    }
}
