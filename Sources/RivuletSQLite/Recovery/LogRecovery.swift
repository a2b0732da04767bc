internal import Glibc
internal import RivuletSessions

/// The state of a database's write-ahead log when a server starts, and the steps that a damaged log needs.
///
/// The steps can be repeated after a crash between two of them. As long as the copy of the log has its first name, with
/// the suffix `-wal.damaged`, the sessions may still have their old epochs.
struct LogRecovery {
    /// A line for the server's log about a commit that was not finished; nil if there was none.
    private(set) var information: String?
    /// A line about a damaged log; nil if the log was not damaged.
    private(set) var warning: String?
    private let pending: String
    private let kept: String

    /// True if commits may be lost, so that old cursors must not be valid any more.
    var renewsEpochs: Bool { warning != nil }

    /// The suffix of the copy of a damaged log, until all sessions have new epochs.
    private static let pendingSuffix = "-wal.damaged"

    /// Returns true if a file is the copy of a damaged log of a database.
    static func isKept(_ name: String, of database: String) -> Bool { name.hasPrefix(database + pendingSuffix) }

    /// Walks the log of a database that no connection has open; a damaged log is copied, and cut to the part that
    /// SQLite recovers.
    ///
    /// First the log is synced: a killed server may have left a whole commit that no sync covers, and SQLite recovers
    /// and serves it.
    ///
    /// `time` is in milliseconds since 1970-01-01T00:00:00Z, and is part of the copy's name.
    /// - Throws: `.corrupt` if a clean log is required and this one is damaged, or if the database has a part of the
    ///   lost commits. `.unavailable` if another program uses the database. In all cases nothing was changed.
    init(of databasePath: String, requiresClean: Bool, time: Int64) throws(StorageError) {
        let log = LogFile(of: databasePath)
        pending = databasePath + Self.pendingSuffix
        kept = DataFolder.unusedPath(pending + "-" + DataFolder.stamp(time))
        try log.synchronize()
        let walk = try log.walk()
        switch walk?.verdict ?? .whole {
        case .whole: break
        case .torn(let frames):
            guard let walk else { break }
            if case .commit? = try CopiedLog(walk, of: log)?.extent() {
                try keep(log, requiresClean: requiresClean, Self.copiedText, cutTo: 0)
            } else {
                // The rest of the log is not needed. If another program reads the log, the cut is skipped.
                if !log.isInUse() { try log.cut(to: walk.recoveredBytes) }
                information =
                    "the last commit in the write-ahead log \(log.path) was not finished: its frames (\(frames)) were left out"
            }
        case .damaged(let frames, let commits):
            guard let walk else { break }
            let (text, end) = try Self.loss(of: log, walk, frames, commits)
            try keep(log, requiresClean: requiresClean, text, cutTo: end)
        }
        guard warning == nil, DataFolderModes.mode(of: pending) != nil else { return }
        // An earlier start ended between the steps.
        try finish(after: "a start that did not finish", log, requiresClean: requiresClean)
    }

    /// Walks the log of a replica, and cuts it to the part that SQLite recovers.
    ///
    /// A replica's commits are not synced one by one. So after a power cut, whole commits may follow a bad frame, which
    /// in the log of a single server would be damage. The replica continues from an earlier position, and applies the
    /// cluster's log again. A bad frame in the middle of the log, from any cause, has the same effect.
    /// - Throws: `.corrupt` if the database has a part of the lost commits. `.unavailable` if another program uses the
    ///   database. In both cases nothing was changed.
    init(ofReplica databasePath: String) throws(StorageError) {
        let log = LogFile(of: databasePath)
        (pending, kept) = ("", "")
        try log.synchronize()
        guard let walk = try log.walk(), walk.verdict != .whole else { return }
        let extent = try CopiedLog(walk, of: log)?.extent() ?? .recovered
        if case .damaged = walk.verdict {
            guard extent != .partly else { throw Self.replicaDamage(of: log) }
            try Self.refuseUse(of: log, databasePath)
        } else if log.isInUse() {
            // Another program reads the log, and SQLite itself leaves the rest out.
            return
        }
        if case .commit = extent { try log.cut(to: 0) } else { try log.cut(to: walk.recoveredBytes) }
        information =
            "the last commits in the write-ahead log \(log.path) were not on the disk: the node applies the cluster's log again"
    }

    /// Returns true if a replica cannot start with its database and its log as they are.
    static func isReplicaDamaged(_ databasePath: String) throws(StorageError) -> Bool {
        let log = LogFile(of: databasePath)
        guard let walk = try log.walk(), case .damaged = walk.verdict else { return false }
        return try CopiedLog(walk, of: log)?.extent() == .partly
    }

    /// Gives all sessions of a database new epochs, and renames the copy of its log to its final name.
    func renewEpochs(in databasePath: String) throws(StorageError) {
        do throws(SQLiteError) {
            let limits = SQLiteStorageLimits()
            let wait = limits.lockWaitMilliseconds
            let connection = try SQLiteConnection(
                path: databasePath,
                access: .readWriteCreate,
                lockWaitMilliseconds: wait
            )
            try SQLiteSchema.prepareWriter(connection, limits: limits, for: .maintenance)
            try EpochRenewal.renew(connection)
        } catch {
            throw error.storageError(for: nil)
        }
        try didRenewEpochs()
    }

    /// Renames the copy of a damaged log to its final name, after the epochs were renewed.
    func didRenewEpochs() throws(StorageError) {
        try BackupFile.rename(pending, to: kept)
        try DataFolder.synchronizeFolder(Self.folder(of: pending))
    }

    // MARK: - Parts

    private static let copiedText = "the database has all of its commits, so none is lost"

    /// Returns the text about lost commits, and the end of the part of the log that is used.
    private static func loss(
        of log: LogFile,
        _ walk: LogWalk,
        _ frames: Int,
        _ commits: Int
    ) throws(StorageError) -> (text: String, end: Int) {
        switch try CopiedLog(walk, of: log)?.extent() ?? .recovered {
        case .recovered: return (lossText(frames, commits), walk.recoveredBytes)
        case .commit(let copied):
            // Without the log, the database is in the state of that commit.
            let lost = walk.frames.filter { $0.index >= copied }
            let commits = lost.count { $0.isCommit }
            return (lost.isEmpty ? copiedText : lossText(lost.count, commits), 0)
        case .partly:
            throw .corrupt(
                nil,
                detail:
                    "the write-ahead log \(log.path) is damaged, and the database has a part of the \(commits) commits after the "
                    + "damage; nothing was changed"
            )
        }
    }

    private static func replicaDamage(of log: LogFile) -> StorageError {
        let detail =
            "the write-ahead log \(log.path) is damaged, and the database has a part of the commits after the damage; nothing "
            + "was changed"
        return ReplicaFolder.error(.corrupt(nil, detail: detail), of: log.databasePath)
    }

    private static func lossText(_ frames: Int, _ commits: Int) -> String {
        "at least \(commits) commits in \(frames) frames after the damage are lost"
    }

    private mutating func keep(
        _ log: LogFile,
        requiresClean: Bool,
        _ text: String,
        cutTo end: Int
    ) throws(StorageError) {
        try refuse(log, if: requiresClean, text)
        try Self.refuseUse(of: log, String(log.path.dropLast("-wal".count)))
        try DataFolder.remove(pending)
        _ = try BackupFile.copy(log.path, to: pending)
        try DataFolder.synchronizeFolder(Self.folder(of: pending))
        try log.cut(to: end)
        warn(log, text)
    }

    private mutating func finish(after what: String, _ log: LogFile, requiresClean: Bool) throws(StorageError) {
        let text = "the damage was found by \(what)"
        try refuse(log, if: requiresClean, text)
        warn(log, text)
    }

    private mutating func warn(_ log: LogFile, _ text: String) {
        warning =
            "the write-ahead log \(log.path) was damaged: \(text). The log is kept as \(kept). All sessions have new epochs, so clients load "
            + "them again. Restore a backup if it has more commits, and remove the kept log when it is not needed"
    }

    private func refuse(_ log: LogFile, if requiresClean: Bool, _ text: String) throws(StorageError) {
        guard requiresClean else { return }
        throw .corrupt(
            nil,
            detail:
                "the write-ahead log \(log.path) is damaged: \(text); nothing was changed; a start without --require-clean serves the "
                + "remaining commits"
        )
    }

    private static func refuseUse(of log: LogFile, _ databasePath: String) throws(StorageError) {
        guard log.isInUse() else { return }
        throw .unavailable(
            detail:
                "the write-ahead log \(log.path) has to be repaired, and another program has \(databasePath) open: end that program"
        )
    }

    private static func folder(of path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    }
}
