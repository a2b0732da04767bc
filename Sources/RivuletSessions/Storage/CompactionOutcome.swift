/// How a compaction ended when storage itself had no trouble.
public enum CompactionOutcome: Hashable, Sendable {
    /// The snapshot is durable; the log ends at this head, as before, and is kept from there.
    case compacted(SessionHead, retained: RetainedLog)
    /// Nothing was written, because the head is not of this log: load again, then decide anew.
    case conflict
}
