/// The result of reading a storage with a server's apps.
public struct StoredSessionsReport: Hashable, Sendable {
    /// The number of sessions that were read, without the sessions of unknown apps.
    public internal(set) var sessions = 0
    /// The number of these sessions that have an earlier schema version and can be read.
    ///
    /// The next event of such a session would store it in the newest version.
    public internal(set) var migrated = 0
    /// The number of these sessions that cannot be read, for any reason.
    public internal(set) var unreadable = 0
    /// The paths that migration steps need and no session has, in the order of apps, steps and paths.
    ///
    /// The sessions that lack such a path are among the unreadable sessions.
    public internal(set) var missingPaths: [MissingMigrationPath] = []
    /// The number of items and values of the hosted apps that were read.
    public internal(set) var items = 0
    /// The number of these items and values that cannot be read.
    public internal(set) var unreadableItems = 0
    /// The stored apps that the server does not host, in the order of their names.
    public internal(set) var unknownApps: [String] = []
    /// The stored key paths for which the state has no field, in the order of apps and key paths.
    ///
    /// The list has at most about 1,000 key paths of each app.
    public internal(set) var ignored: [IgnoredKeyPath] = []

    /// True if everything that is stored can be served, except for the key paths in `ignored`.
    public var isClean: Bool {
        unreadable == 0 && unreadableItems == 0 && unknownApps.isEmpty && missingPaths.isEmpty
    }

    /// The report as an operator reads it: a line for each finding, then the figures.
    public var lines: [String] {
        var lines = missingPaths.map { "\($0.app)/*: \($0)" }
        if !lines.isEmpty {
            lines.append("Correct these steps; say required: false where all sessions may lack the path.")
        }
        lines += unknownApps.map { "\($0)/*: this build hosts no app \"\($0)\"" }
        lines += ignored.map { ignored in
            "\(ignored.app)/*: this build ignores what is stored at \(ignored.path); sessions that have it: \(ignored.sessions)"
        }
        lines.append(
            "\(sessions == 1 ? "1 session" : "\(sessions) sessions"): \(sessions - unreadable) can be read, \(migrated) of them would be migrated; "
                + "\(unreadable) cannot"
        )
        if items > 0 { lines.append("\(items) items and values: \(unreadableItems) cannot be read") }
        return lines
    }
}

/// A key path that is in stored sessions of an app and not in the app's state.
public struct IgnoredKeyPath: Hashable, Sendable {
    /// The path that stands for all key paths beyond the limit of a report.
    static let others = "/*"

    /// The name of the app.
    public let app: String
    /// The key path, in which a token `*` is any element of a collection; `/*` alone is all key paths beyond the
    /// report's limit.
    public let path: String
    /// The number of sessions with a value at this key path, in their newest snapshot or in the log after it.
    public let sessions: Int
}
