/// The creation of a session that storage does not have yet.
struct SessionCreation {
    /// The state that a client asked for; readers see it only after it is stored.
    struct Initial {
        /// The document of version 0.
        let document: [UInt8]
        /// The epoch of the history that begins with the document.
        ///
        /// Cursors of the default state are at version 0 too, and must not match this history.
        let epoch: String
        let visibleEpoch: String
    }

    private(set) var initial: Initial?
    private var replies: [SessionReply<SessionInfo>] = []

    /// True if a client waits for the session to be stored.
    var isAwaited: Bool { !replies.isEmpty }

    /// The approximate memory of the creation, in bytes.
    var bytes: Int { initial?.document.count ?? 0 }

    mutating func begin(with initial: Initial) { self.initial = initial }

    mutating func await(_ reply: @escaping SessionReply<SessionInfo>) { replies.append(reply) }

    /// Removes and returns the replies that wait; nil if there are none.
    mutating func takeReplies() -> [SessionReply<SessionInfo>]? {
        guard !replies.isEmpty else { return nil }
        defer { replies = [] }
        return replies
    }

    /// Removes and returns the initial state, which storage now has; nil if the session began with the default.
    mutating func adopt() -> Initial? {
        defer { initial = nil }
        return initial
    }
}
