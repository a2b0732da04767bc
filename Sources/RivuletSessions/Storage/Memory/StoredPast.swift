/// What is needed to rebuild the state of a session at one version of its past.
public struct StoredPast: Hashable, Sendable {
    /// The newest snapshot at or before that version, of the schema in which the version was stored; nil: start from the app's default at version 0.
    public let snapshot: StateSnapshot?
    /// The entries after the snapshot, contiguous, up to and including that version.
    public let entries: [LogEntry]

    /// Describes the way to one version.
    public init(snapshot: StateSnapshot?, entries: [LogEntry]) {
        self.snapshot = snapshot
        self.entries = entries
    }
}
