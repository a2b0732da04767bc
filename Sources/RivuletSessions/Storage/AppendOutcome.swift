/// How an append ended when storage itself had no trouble.
public enum AppendOutcome: Hashable, Sendable {
    /// It is durable, and the log now ends here: acknowledge it and show it now.
    case committed(SessionHead)
    /// Nothing was written, because the log does not end where the caller thought: load again, then decide anew.
    case conflict
}
