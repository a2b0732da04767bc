package import RivuletBase

/// Identifies a subscriber's connection on its event loop.
package struct StreamID: Hashable, Sendable {
    /// The index of the loop that the connection lives on.
    package let loop: Int
    /// The loop's own name for the connection; opaque here.
    package let connection: UInt64

    package init(loop: Int, connection: UInt64) {
        self.loop = loop
        self.connection = connection
    }
}

/// Identifies a group: the subscribers of one session with the same paths, format and interval; unique in the process.
package struct GroupID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// A request to watch a session.
package struct StreamRequest: Sendable {
    package let stream: StreamID
    package let topic: StreamTopic
    /// The subscriber's cursor, as the client sent it; nil for a fresh subscriber.
    package let resume: String?
    /// The cursor that the subscriber had with other paths; nil if there is none.
    ///
    /// The stream does not resume there, but it ends if the session of that cursor was deleted.
    package let stood: String?
    /// The reason for which a stream without `resume` begins with a reset; nil if it begins with a snapshot.
    package let reason: ResetReason?
    /// True if missed changes are sent version by version; false if they are merged.
    package let resumesAll: Bool
    /// True if the caller's permissions leave out a part of the paths for which the client asked.
    package let isMasked: Bool
    /// True if the stream is compressed.
    package let isCompressed: Bool
    /// True if the stream is open, and asks again because it may have missed events.
    package let isOpen: Bool

    package init(
        stream: StreamID,
        topic: StreamTopic,
        resume: String?,
        stood: String? = nil,
        reason: ResetReason? = nil,
        resumesAll: Bool = false,
        isMasked: Bool = false,
        isCompressed: Bool = false,
        isOpen: Bool = false
    ) {
        self.stream = stream
        self.topic = topic
        self.resume = resume
        self.stood = stood
        self.reason = reason
        self.resumesAll = resumesAll
        self.isMasked = isMasked
        self.isCompressed = isCompressed
        self.isOpen = isOpen
    }
}
