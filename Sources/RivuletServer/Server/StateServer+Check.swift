// Owns the check of stored sessions before a new build is deployed.

public import RivuletSessions
import RivuletStores

extension StateServer {
    /// The most session ids that storage returns at once.
    private static var pageSize: Int { 1_000 }

    /// The most ignored key paths of an app that are listed one by one; a storage may have any number of them.
    private static var ignoredPathsMax: Int { 1_000 }

    /// Reads every stored session as this server would, and writes nothing.
    ///
    /// A request for a session that cannot be read would get 500. The server would ignore stored values for which the
    /// app has no field; the report lists their key paths.
    ///
    /// An earlier build of the server may be using the storage. The memory that the check needs grows with the largest
    /// session, not with the storage.
    ///
    /// - Parameters:
    ///   - storage: The storage to check.
    ///   - onUnreadable: Called with the reason for each session that cannot be read, in the order of apps and ids. It
    ///     is not called if the session's only error is a missing path of a migration step. The report's `missingPaths`
    ///     names that path.
    ///   - onUnreadableItem: Called for each item or value that cannot be read, with its location, such as
    ///     `notes/stores/notes/id`, and the reason.
    /// - Returns: The numbers of sessions, items and values that were read, and the findings.
    /// - Throws: a `StorageError` when the storage as a whole cannot be read.
    public func check(
        _ storage: some StorageInspection,
        onUnreadable: (_ session: SessionKey, _ reason: String) -> Void,
        onUnreadableItem: (_ location: String, _ reason: String) -> Void = { _, _ in }
    ) throws(StorageError) -> StoredSessionsReport {
        var report = StoredSessionsReport()
        for name in try storage.apps() {
            guard let app = app(named: name) else {
                report.unknownApps.append(name)
                continue
            }
            var ignored: [String: Int] = [:]
            var paths = MigrationPathCounts()
            var last: String?
            while case let ids = try storage.sessions(app: name, after: last, limit: Self.pageSize), let end = ids.last
            {
                for id in ids {
                    let key = SessionKey(app: name, id: id)
                    if let reason = try Self.check(key, of: app, in: storage, &report, &ignored, &paths) {
                        onUnreadable(key, reason)
                    }
                }
                last = end
            }
            report.missingPaths += paths.missing(of: name)
            report.unreadable += paths.sessions
            report.migrated -= paths.sessions
            report.ignored += ignored.sorted { $0.key < $1.key }.map { path, sessions in
                IgnoredKeyPath(app: name, path: path, sessions: sessions)
            }
        }
        try checkShared(in: storage, &report, onUnreadableItem)
        return report
    }

    /// Counts the session; returns the reason why it cannot be read, or nil if it can.
    private static func check(
        _ key: SessionKey,
        of app: any HostedApp,
        in storage: some StorageInspection,
        _ report: inout StoredSessionsReport,
        _ ignored: inout [String: Int],
        _ paths: inout MigrationPathCounts
    ) throws(StorageError) -> String? {
        let reason: String
        var stored: StoredSession?
        do {
            stored = try storage.load(key)
            guard let stored else { return nil }
            report.sessions += 1
            let findings = try app.check(key, stored: stored)
            if findings.isMigrated { report.migrated += 1 }
            count(findings.ignored, &ignored)
            paths.add(findings.migration)
            return nil
        } catch let error as StorageError {
            guard case .corrupt(_?, let detail) = error else { throw error }
            report.sessions += 1
            reason = "it is damaged: \(detail)"
        } catch SessionError.unreadable(_, let detail) {
            reason = detail
        } catch {
            reason = "\(error)"
        }
        report.unreadable += 1
        if let stored { paths.add(app.migrationFindings(key, stored: stored), isReadable: false) }
        return reason
    }

    /// Counts a session's ignored key paths; all key paths beyond the limit share one entry.
    private static func count(_ paths: Set<String>, _ ignored: inout [String: Int]) {
        var hasOthers = false
        for path in paths.sorted() {
            if ignored[path] != nil || ignored.count < ignoredPathsMax {
                ignored[path, default: 0] += 1
            } else {
                hasOthers = true
            }
        }
        if hasOthers { ignored[IgnoredKeyPath.others, default: 0] += 1 }
    }
}
