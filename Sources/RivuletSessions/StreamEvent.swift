// Part of Rivulet. See README.md for the architecture.
// Owns what a stream carries, before it becomes bytes of any format.

import RivuletJSON

/// One event of a change stream.
///
/// An object, so that who renders it knows it again when several groups get it.
package final class StreamEvent: Sendable {
    /// The kinds of the contract.
    ///
    /// Source: spec/http.md §4.
    package enum Name: String, Sendable {
        case snapshot, change, reset, bye
    }

    /// Why a stream ends.
    package enum ByeReason: String, Sendable {
        case deleted, draining, expired, limit, revoked, slow, unavailable
    }

    package let name: Name
    /// Where the reader stands after it; nil for `bye`.
    package let cursor: Cursor?
    /// JSON.
    package let data: [UInt8]

    package init(name: Name, cursor: Cursor?, data: [UInt8]) {
        self.name = name
        self.cursor = cursor
        self.data = data
    }

    /// A stream's last event; `after` is how many milliseconds a client waits before it comes back.
    package static func bye(_ reason: ByeReason, reconnect: Bool, after: Int) -> StreamEvent {
        var writer = JSONWriter(capacity: 64)
        writer.beginObject()
        writer.key("reason")
        writer.string(reason.rawValue)
        writer.key("reconnect")
        writer.bool(reconnect)
        writer.key("after")
        writer.integer(after)
        writer.endObject()
        return StreamEvent(name: .bye, cursor: nil, data: writer.bytes)
    }
}
