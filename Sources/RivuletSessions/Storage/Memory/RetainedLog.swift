/// The beginning of what is kept of a session's log.
public struct RetainedLog: Hashable, Sendable {
    /// The oldest version whose entry is kept; one after the head's when none is.
    ///
    /// It may lie before the newest snapshot, because entries are kept longer for returning readers and for the past.
    public let from: UInt64
    /// The time of that entry, in milliseconds since 1970-01-01T00:00:00Z; nil when no entry is kept.
    public let since: Int64?

    /// Describes where a log begins.
    public init(from: UInt64, since: Int64?) {
        self.from = from
        self.since = since
    }
}
