/// What a server's apps could read of a store.
public struct StoredSessionsReport: Hashable, Sendable {
    /// The sessions that were looked at, those of unknown apps not among them.
    public internal(set) var sessions = 0
    /// Those of them that are of an earlier schema version, and can be read: their next event would store them in the newest.
    public internal(set) var migrated = 0
    /// Those of them that cannot be read, for whatever reason.
    public internal(set) var unreadable = 0
    /// The paths that migration steps need and no session has, in the order of apps, steps and paths; the sessions are among the unreadable ones.
    public internal(set) var missingPaths: [MissingMigrationPath] = []
    /// The items and values that were looked at, of the hosted apps' stores and values.
    public internal(set) var items = 0
    /// Those of them that cannot be read.
    public internal(set) var unreadableItems = 0
    /// The stored apps that the server does not host, in the order of their names.
    public internal(set) var unknownApps: [String] = []
    /// What is stored and no field takes, in the order of apps and key paths; at most about 1,000 of each app.
    public internal(set) var ignored: [IgnoredKeyPath] = []

    /// Whether everything that is stored can be served, but for what is `ignored`.
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
    /// What stands for all key paths for which a report had no room.
    static let others = "/*"

    /// The name of the app.
    public let app: String
    /// The key path; a token `*` stands for any element of a collection, and `/*` alone for further key paths.
    public let path: String
    /// How many sessions have something there, in their newest snapshot or the log after it.
    public let sessions: Int
}
