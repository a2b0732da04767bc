import RivuletEngine

/// A path that a migration step needs, and that none of the sessions has on which the check tried the step.
///
/// A request for such a session would get 500.
public struct MissingMigrationPath: Hashable, Sendable, CustomStringConvertible {
    /// The name of the app.
    public let app: String
    /// The schema version from which the step migrates.
    public let version: Int
    /// The JSON Pointer; a token `*` stands for each element of an `updateEach`.
    public let path: String
    /// The number of sessions in which the step looked for the path.
    public let sessions: Int
    /// The error's sentence: `step 1→2: /name was found in 0 of 12 sessions; paths begin at /p`.
    public let description: String
}

/// Collects the paths that migration steps looked for in the sessions of one app, and counts the sessions.
struct MigrationPathCounts {
    /// The most paths of an app that are remembered, separately for found paths and for missing paths.
    ///
    /// A path beyond the limit is treated as found.
    private static let pathsMax = 1_000
    /// The maximum number of sets of missing paths that are remembered.
    ///
    /// Sessions with further sets are counted in `others`. They are reported as unreadable if any path is missing at
    /// the end of the check.
    private static let groupsMax = 1_000

    private var found: Set<MigrationPath> = []
    /// True if a path was not remembered because a limit was reached.
    ///
    /// From then on, a new path is treated as found, because an earlier session may have had it.
    private var isFull = false
    private var missing: [MigrationPath: (sessions: Int, beginnings: [String])] = [:]
    private var groups: [Set<MigrationPath>: Int] = [:]
    private var others = 0

    /// Adds the paths that the steps looked for in one session; `isReadable` is true if the session has no other error.
    mutating func add(_ findings: MigrationFindings, isReadable: Bool = true) {
        var lacking: Set<MigrationPath> = []
        // The loop may set `isFull`. For the missing paths of this session, only the value from the earlier sessions
        // matters.
        let wasFull = isFull
        for (path, beginnings) in findings.missing.sorted(by: { $0.key < $1.key }) where !found.contains(path) {
            if missing[path] == nil, missing.count >= Self.pathsMax { isFull = true }
            guard missing[path] != nil || (!wasFull && missing.count < Self.pathsMax) else { continue }
            lacking.insert(path)
            missing[path, default: (0, beginnings)].sessions += 1
        }
        for path in findings.found {
            missing[path] = nil
            guard !found.contains(path) else { continue }
            if found.count < Self.pathsMax { found.insert(path) } else { isFull = true }
        }
        guard !lacking.isEmpty, isReadable else { return }
        if groups[lacking] != nil || groups.count < Self.groupsMax {
            groups[lacking, default: 0] += 1
        } else {
            others += 1
        }
    }

    /// The paths that no session has, in the order of versions and paths.
    func missing(of app: String) -> [MissingMigrationPath] {
        missing.sorted { $0.key < $1.key }.map { path, count in
            MissingMigrationPath(
                app: app,
                version: path.version,
                path: path.path,
                sessions: count.sessions,
                description: path.fault(
                    in: count.sessions == 1 ? "1 session" : "\(count.sessions) sessions",
                    beginnings: count.beginnings
                )
            )
        }
    }

    /// The number of sessions that lack one of these paths and have no other error.
    var sessions: Int {
        guard !missing.isEmpty else { return 0 }
        return groups.reduce(others) { $0 + ($1.key.contains { missing[$0] != nil } ? $1.value : 0) }
    }
}
