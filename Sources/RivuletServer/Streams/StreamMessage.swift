import RivuletEventLoop
import RivuletSessions

/// One step of a loop's streams.
enum StreamMessage: Sendable {
    case join(StreamJoin)
    /// An event for all members of a group, and where they stand then.
    case deliver(StreamBlock, cursor: String, group: GroupID)
    /// The end of all members of a group, which their session has forgotten already.
    case end(GroupID, StreamEvent.ByeReason)
    /// A stream cannot be served, or not be given what it missed.
    case refuse(StreamID, StreamRejection)
}

/// What one stream is sent of its own, and what becomes of it.
struct StreamJoin: Sendable {
    let stream: StreamID
    let place: StreamPlace
    let source: StreamSource
    let first: FirstEvents
    /// Where it stands when it has been sent all of `first`.
    let cursor: String
}

/// The events that a stream begins or goes on with.
struct FirstEvents: Sendable {
    /// What begins a snapshot, up to where the stream's own name goes; empty when these events name no stream.
    let head: [UInt8]
    /// The rest, which others may be sent, too.
    let body: [StreamText]
    /// The way in which the stream begins, for the metric label `way`.
    let start: StreamStart

    var byteCount: Int { head.count + body.reduce(0) { $0 + $1.plain.count } }

    static let none = FirstEvents(head: [], body: [], start: .merged)
}
