/// How a creation ended when storage itself had no trouble.
public enum CreateOutcome: Hashable, Sendable {
    /// The session is new and durable, at version 0.
    case created(SessionHead)
    /// The session was there already, with this head; nothing was written.
    case exists(SessionHead)
}
