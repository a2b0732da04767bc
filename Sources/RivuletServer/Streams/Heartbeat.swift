import RivuletEventLoop
import RivuletHTTP

/// A comment, as it is sent to all streams that have been quiet for long.
struct Heartbeat: Sendable {
    private let plain: StreamBlock
    private let compressed: StreamBlock
    /// What it adds to a compressed body.
    let tally: GzipTally

    init() {
        var comment: [UInt8] = []
        ServerSentEvent.append(comment: "", to: &comment)
        plain = StreamBlock(comment.span)
        compressed = StreamBlock(StreamCompressor.stored(comment.span).span)
        tally = GzipTally(comment.span)
    }

    /// The bytes to send to a stream.
    func bytes(isCompressed: Bool, isChunked: Bool) -> SharedBytes {
        (isCompressed ? compressed : plain).bytes(isChunked: isChunked)
    }
}
