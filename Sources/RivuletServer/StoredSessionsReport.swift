// Part of Rivulet. See README.md for the architecture.
// Owns what a check of stored sessions finds.

/// What a server's apps could read of a store.
public struct StoredSessionsReport: Hashable, Sendable {
    /// The sessions that were looked at, those of unknown apps not among them.
    public internal(set) var sessions = 0
    /// Those of them that are of an earlier schema version, and can be read.
    public internal(set) var migrated = 0
    /// Those of them that cannot be read.
    public internal(set) var unreadable = 0
    /// The items and values that were looked at, of the hosted apps' stores and values.
    public internal(set) var items = 0
    /// Those of them that cannot be read.
    public internal(set) var unreadableItems = 0
    /// The stored apps that the server does not host, in the order of their names.
    public internal(set) var unknownApps: [String] = []
    /// What is stored and no field takes, in the order of apps and key paths; at most about 1,000 of each app.
    public internal(set) var ignored: [IgnoredKeyPath] = []

    /// Whether everything that is stored can be served, but for what is `ignored`.
    public var isClean: Bool { unreadable == 0 && unreadableItems == 0 && unknownApps.isEmpty }
}
