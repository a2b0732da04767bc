/// Where an append goes: after a known head, or into a session that it creates.
public enum AppendPoint: Hashable, Sendable {
    /// After this head; a head that is no longer the newest is a conflict.
    case after(SessionHead)
    /// Into a session that must not exist yet; creation and entries are one transaction.
    ///
    /// The entries start at version 1. `time` is the creation time in milliseconds since 1970-01-01T00:00:00Z;
    /// `snapshot`, when given, is the state at version 0.
    case creating(epoch: String, time: Int64, snapshot: StateSnapshot? = nil)
}
