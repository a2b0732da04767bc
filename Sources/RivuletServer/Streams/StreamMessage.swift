import RivuletEventLoop
import RivuletSessions

/// One message of a source to the streams of a loop.
enum StreamMessage: Sendable {
    case join(StreamJoin)
    /// An event for all members of a group, and their cursor after it.
    case deliver(StreamBlock, cursor: String, group: GroupID)
    /// The end of all members of a group, which its source has removed already.
    case end(GroupID, StreamEvent.ByeReason)
    /// The error of a stream that cannot be served, or cannot get its missed changes.
    case refuse(StreamID, StreamError)
}

/// The events for one stream alone, and its group or state after them.
struct StreamJoin: Sendable {
    let stream: StreamID
    let slot: StreamSlot
    let source: StreamSource
    let first: FirstEvents
    /// The stream's cursor when all of `first` has been sent.
    let cursor: String
    /// True if a stream of another node's source has to get each version that it misses when messages are lost.
    var resumesAll = false
}

/// The events with which a stream begins or continues.
struct FirstEvents: Sendable {
    /// The beginning of a snapshot, up to the stream's own name; empty if these events name no stream.
    let head: [UInt8]
    /// The rest of the text, which other streams may share.
    let body: [StreamText]
    /// The way in which the stream begins, for the metric label `way`.
    let start: StreamStart

    var byteCount: Int { head.count + body.reduce(0) { $0 + $1.plain.count } }

    static let none = FirstEvents(head: [], body: [], start: .merged)
}
