import RivuletEventLoop
import RivuletHTTP

/// A part of an event stream's body that is sent to many streams, framed once as one chunk.
///
/// A stream of HTTP/1.1 is sent the chunk. A stream of HTTP/1.0 is sent only its content, because its body lasts until
/// the close. Source: RFC 9112 §7.1.
struct StreamBlock: Sendable {
    /// The framing with the content.
    private let chunk: SharedBytes
    private let content: Range<Int>

    /// The number of bytes of the content, without the framing.
    var count: Int { content.count }

    /// Makes a block; the content is written directly into the block's memory.
    ///
    /// - Parameters:
    ///   - capacity: The most bytes of the content. At least one byte is written, because a chunk without content ends
    ///     the body.
    ///   - account: Counts the bytes with their framing until the last holder releases them.
    ///   - write: Writes the content.
    init(capacity: Int, account: SharedBytes.Account? = nil, _ write: (inout OutputSpan<UInt8>) -> Void) {
        let endCount = HTTPChunk.terminator.count
        var contentCount = 0
        let chunk = SharedBytes(
            prefixCapacity: HTTPChunk.headBytesMax,
            capacity: capacity + endCount,
            account: account
        ) { output in
            write(&output)
            HTTPChunk.appendTerminator(to: &output)
        } prefix: { count, output in
            contentCount = count - endCount
            HTTPChunk.appendHead(count: contentCount, to: &output)
        }
        let end = chunk.count - endCount
        content = end - contentCount..<end
        self.chunk = chunk
    }

    /// Copies the content.
    init(_ content: Span<UInt8>, account: SharedBytes.Account? = nil) {
        self.init(capacity: content.count, account: account) { $0.append(copying: content) }
    }

    /// The object that all copies of the block share.
    var identity: AnyObject { chunk }

    /// The bytes to send to a stream of HTTP/1.1, or of HTTP/1.0; both are the same memory.
    func bytes(isChunked: Bool) -> SharedBytes { isChunked ? chunk : SharedBytes(content, of: chunk) }

    /// Calls `body` with the content.
    func withContent<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        chunk.withBytes { body($0.extracting(content)) }
    }
}

/// The comment for streams that have been quiet for long, in each form that they need.
struct Heartbeat: Sendable {
    private let plain: StreamBlock
    private let compressed: StreamBlock
    /// The tally of the text that the comment adds to a compressed body.
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
