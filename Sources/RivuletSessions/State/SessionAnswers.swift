package import RivuletObservation

/// The result of a dispatch.
package struct DispatchAnswer: Sendable {
    package let version: UInt64
    package let cursor: Cursor
    /// True if all changes of the dispatch were on disk before this answer.
    package let isDurable: Bool
    package let changes: [StateChange]
    /// The changes as a JSON array, if the log entry has the same text; nil if the array is still to be written.
    package let changesJSON: [UInt8]?
    package let coerced: [CoercedValue]
}

/// A value that a wrapper changed on its way into the state.
package typealias CoercedValue = Coercion

/// A value of the state, as JSON bytes.
package struct StateAnswer: Sendable {
    package let cursor: Cursor
    package let value: [UInt8]
    /// The object that has the value, if other readers share it.
    package let shared: ReadValue?

    package init(cursor: Cursor, value: [UInt8], shared: ReadValue? = nil) {
        self.cursor = cursor
        self.value = value
        self.shared = shared
    }
}

/// A part of a session's log.
package struct LogPage: Sendable {
    /// The present cursor of the session.
    package let cursor: Cursor
    /// The entries, dense and in order.
    package let entries: [LogEntry]
    /// True if the log has more entries after these.
    package let hasMore: Bool
}

/// The metadata of a session.
package struct SessionInfo: Sendable {
    package let key: SessionKey
    package let epoch: String
    package let version: UInt64
    /// The time of the session's creation, in milliseconds since 1970.
    package let created: Int64
    /// The time of the newest entry, in milliseconds since 1970.
    package let updated: Int64
    package let streams: Int
    /// The oldest version that is still in the log; the session's version plus 1 if the log is empty.
    package let retainedFrom: UInt64
}

/// The answer to a creation: the session was created, or existed before.
package enum CreateAnswer: Sendable {
    /// The session was created; wrappers changed the `coerced` values of the requested state.
    case created(SessionInfo, coerced: [CoercedValue])
    case existed(SessionInfo)
}
