package import RivuletBase
import RivuletJSON

/// One event of a change stream.
///
/// An object, so that who renders it knows it again when several groups get it.
package final class StreamEvent: Sendable {
    /// The kinds of the contract.
    ///
    /// Source: <Documentation/HTTP.md#events-of-a-stream>.
    package enum Name: String, Sendable {
        case snapshot, change, reset, bye
    }

    /// Why a stream ends.
    package enum ByeReason: String, CaseIterable, Sendable {
        case deleted, draining, expired, limit, revoked, slow, unavailable

        /// Whether the client is to come back.
        package var reconnects: Bool { self != .deleted && self != .revoked }

        /// How many milliseconds it waits before that: each another time, so that they do not all come at once.
        var delays: ClosedRange<Int> {
            switch self {
            case .deleted, .revoked: 0...0
            case .expired: 0...1_000
            case .draining, .slow: 500...2_500
            case .unavailable: 2_000...5_000
            case .limit: 5_000...15_000
            }
        }
    }

    package let name: Name
    /// Where the reader stands after it; nil for `bye`.
    package let cursor: Cursor?
    /// JSON.
    package let data: [UInt8]
    /// Why a reader has to begin anew; of a `reset` only.
    package let resetReason: ResetReason?
    /// The text that streams are sent of a snapshot or a reset.
    package let form = SharedForm()

    package init(name: Name, cursor: Cursor?, data: [UInt8], resetReason: ResetReason? = nil) {
        self.resetReason = resetReason
        self.name = name
        self.cursor = cursor
        self.data = data
    }

    /// A stream's last event.
    package static func bye(_ reason: ByeReason) -> StreamEvent {
        var writer = JSONWriter(capacity: 64)
        writer.beginObject()
        writer.key("reason")
        writer.string(reason.rawValue)
        writer.key("reconnect")
        writer.bool(reason.reconnects)
        writer.key("after")
        writer.integer(Int.random(in: reason.delays))
        writer.endObject()
        return StreamEvent(name: .bye, cursor: nil, data: writer.bytes)
    }
}
