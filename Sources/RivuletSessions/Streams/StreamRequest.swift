/// A subscriber's connection, as its own loop knows it.
package struct StreamID: Hashable, Sendable {
    /// The index of the loop that the connection lives on.
    package let loop: Int
    /// The loop's own name for it; opaque here.
    package let connection: UInt64

    package init(loop: Int, connection: UInt64) {
        self.loop = loop
        self.connection = connection
    }
}

/// All subscribers of a session that watch the same key paths; unique in the process.
package struct GroupID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// A wish to watch a session.
package struct StreamRequest: Sendable {
    package let stream: StreamID
    package let topic: StreamTopic
    /// Where the subscriber stands, as it says; nil for a fresh one.
    package let resume: String?
    /// Where it stood with other paths: nothing is resumed from there, but it ends with the session that it stood in.
    package let stood: String?
    /// Whether what it missed is told version by version rather than merged.
    package let resumesAll: Bool

    package init(
        stream: StreamID,
        topic: StreamTopic,
        resume: String?,
        stood: String? = nil,
        resumesAll: Bool = false
    ) {
        self.stream = stream
        self.topic = topic
        self.resume = resume
        self.stood = stood
        self.resumesAll = resumesAll
    }
}
