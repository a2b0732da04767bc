package import RivuletBase
import RivuletJSON

/// One event of a change stream.
///
/// A class, so that the code that renders an event recognises it when several groups get it.
package final class StreamEvent: Sendable {
    /// The kinds of events that clients know.
    ///
    /// Source: <Documentation/HTTP.md#events-of-a-stream>.
    package enum Name: String, Sendable {
        case snapshot, change, reset, auth, bye
    }

    /// The reason why a stream ends.
    package enum ByeReason: String, CaseIterable, Sendable {
        case deleted, draining, expired, limit, revoked, slow, unavailable
        case unauthorized
        case tokenExpired = "token-expired"

        /// True if the client is to reconnect.
        package var reconnects: Bool {
            switch self {
            case .deleted, .revoked, .unauthorized: false
            case .draining, .expired, .limit, .slow, .unavailable, .tokenExpired: true
            }
        }

        /// The range of the delay before a client reconnects, in milliseconds.
        ///
        /// Each stream gets a random delay, so that clients do not reconnect all at once.
        var delays: ClosedRange<Int> {
            switch self {
            case .deleted, .revoked, .unauthorized, .tokenExpired: 0...0
            case .expired: 0...1_000
            case .draining, .slow: 500...2_500
            case .unavailable: 2_000...5_000
            case .limit: 5_000...15_000
            }
        }
    }

    package let name: Name
    /// The cursor of a reader that has the event; nil for `auth` and `bye`.
    package let cursor: Cursor?
    /// JSON.
    package let data: [UInt8]
    /// The reason why a reader has to drop its values; nil for every event but `reset`.
    package let resetReason: ResetReason?
    /// The cache for the text of a snapshot or a reset in the form in which streams get it.
    package let form = SharedForm()

    package init(name: Name, cursor: Cursor?, data: [UInt8], resetReason: ResetReason? = nil) {
        self.resetReason = resetReason
        self.name = name
        self.cursor = cursor
        self.data = data
    }

    /// The notice that the stream's credential ends at a time of RFC 3339, in this number of milliseconds.
    package static func auth(expires: String, milliseconds: UInt64) -> StreamEvent {
        var writer = JSONWriter(capacity: 64)
        writer.beginObject()
        writer.key("expires")
        writer.string(expires)
        writer.key("in")
        writer.integer(milliseconds)
        writer.endObject()
        return StreamEvent(name: .auth, cursor: nil, data: writer.bytes)
    }

    /// A stream's last event.
    ///
    /// `delay` is the time before the client reconnects, in milliseconds; nil takes a random one of the reason's range.
    package static func bye(_ reason: ByeReason, after delay: Int? = nil) -> StreamEvent {
        var writer = JSONWriter(capacity: 64)
        writer.beginObject()
        writer.key("reason")
        writer.string(reason.rawValue)
        writer.key("reconnect")
        writer.bool(reason.reconnects)
        writer.key("after")
        writer.integer(delay ?? Int.random(in: reason.delays))
        writer.endObject()
        return StreamEvent(name: .bye, cursor: nil, data: writer.bytes)
    }
}
