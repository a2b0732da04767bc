package import RivuletObservation

/// What a dispatch did.
package struct DispatchAnswer: Sendable {
    package let version: UInt64
    package let cursor: Cursor
    /// Whether everything it changed was on disk before this answer.
    package let isDurable: Bool
    package let changes: [StateChange]
    /// The changes as a JSON array, when the log's entry has the same text; nil: it is still to be written.
    package let changesJSON: [UInt8]?
    package let coerced: [CoercedValue]
}

/// A value that a wrapper changed on its way into the state.
package typealias CoercedValue = Coercion

/// A value of the state, as JSON bytes.
package struct StateAnswer: Sendable {
    package let cursor: Cursor
    package let value: [UInt8]
    /// The object that has the value, where other readers share it.
    package let shared: ReadValue?

    package init(cursor: Cursor, value: [UInt8], shared: ReadValue? = nil) {
        self.cursor = cursor
        self.value = value
        self.shared = shared
    }
}

/// A part of a session's log.
package struct LogPage: Sendable {
    /// Where the session stands.
    package let cursor: Cursor
    /// Dense and in order.
    package let entries: [LogEntry]
    /// Whether the log goes on after them.
    package let hasMore: Bool
}

/// What there is to say of a session as such.
package struct SessionInfo: Sendable {
    package let key: SessionKey
    package let epoch: String
    package let version: UInt64
    /// Milliseconds since 1970.
    package let created: Int64
    /// Milliseconds since 1970.
    package let updated: Int64
    package let streams: Int
    /// The versions whose changes are still in the log; empty for a session without events.
    package let retainedFrom: UInt64
}

/// Whether a session was made or had been there.
package enum CreateAnswer: Sendable {
    /// Wrappers changed these values of the state that was asked for.
    case created(SessionInfo, coerced: [CoercedValue])
    case existed(SessionInfo)
}
