/// The creation of a session that storage does not know yet.
struct SessionCreation {
    /// The state that a client asked for, until storage has it; not visible before.
    struct Initial {
        /// The document of version 0.
        let document: [UInt8]
        /// The name of the history that begins with it.
        ///
        /// Cursors of the default state are at version 0 too, and must not pass for cursors
        /// of this one.
        let epoch: String
        let visibleEpoch: String
    }

    private(set) var initial: Initial?
    private var replies: [SessionReply<SessionInfo>] = []

    /// Whether a client waits for the session to be stored.
    var isAwaited: Bool { !replies.isEmpty }

    /// What it takes of memory, roughly.
    var bytes: Int { initial?.document.count ?? 0 }

    mutating func begin(with initial: Initial) { self.initial = initial }

    mutating func await(_ reply: @escaping SessionReply<SessionInfo>) { replies.append(reply) }

    /// Takes those who wait; nil: there are none.
    mutating func takeReplies() -> [SessionReply<SessionInfo>]? {
        guard !replies.isEmpty else { return nil }
        defer { replies = [] }
        return replies
    }

    /// Takes the state that storage has now; nil: it is the default.
    mutating func adopt() -> Initial? {
        defer { initial = nil }
        return initial
    }
}
