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
    /// The first caller of the creation; nil if no request and no event has begun it.
    private var creator: Creator?
    /// The caller that creates the session, by its request or by its event.
    private struct Creator {
        /// The name of the caller; nil for an anonymous caller and for the app.
        let owner: String?
    }

    private var replies: [SessionReply<SessionInfo>] = []

    /// True if a client waits for the session to be stored.
    var isAwaited: Bool { !replies.isEmpty }

    /// The approximate memory of the creation, in bytes.
    var bytes: Int { initial?.document.count ?? 0 }

    /// The owner of the session.
    var owner: String? { creator?.owner }

    /// Records the caller that begins the creation; later callers do not change the owner.
    mutating func begin(by owner: String?) {
        if creator == nil { creator = Creator(owner: owner) }
    }

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
