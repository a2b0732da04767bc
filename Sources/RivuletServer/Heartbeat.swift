// Part of Rivulet. See README.md for the architecture.
// Owns the word that a quiet stream gets.

import RivuletEventLoop
import RivuletHTTP

/// A comment, as it is sent to all streams that have been quiet for long.
struct Heartbeat: Sendable {
    let plain: SharedBytes
    let compressed: SharedBytes
    /// What it adds to a compressed body.
    let tally: GzipTally

    init() {
        var comment: [UInt8] = []
        ServerSentEvent.append(comment: "", to: &comment)
        plain = SharedBytes(comment)
        compressed = SharedBytes(StreamCompressor.stored(comment.span))
        tally = GzipTally(comment.span)
    }
}
