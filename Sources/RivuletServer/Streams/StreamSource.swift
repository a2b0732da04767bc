import RivuletSessions

/// What the members of a group follow.
enum StreamSource: Hashable, Sendable {
    /// A session's state or view.
    case session(SessionKey, StreamTopic)
    /// A store or a value.
    case shared(SharedKey)
}
