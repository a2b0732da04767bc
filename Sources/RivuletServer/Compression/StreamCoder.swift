import RivuletEventLoop
import RivuletHTTP

/// Makes the bytes of the streams of one loop.
final class StreamCoder {
    private let account: SharedBytes.Account
    /// Made for the first compressed stream; nil if zlib has no memory, and then blocks are not compressed.
    private lazy var compressor = StreamCompressor()

    /// Makes a coder that counts its bytes in the account.
    init(_ account: SharedBytes.Account) { self.account = account }

    /// Returns a block of these bytes, which are not empty.
    func block(_ bytes: [UInt8]) -> StreamBlock { StreamBlock(bytes.span, account: account) }

    /// Several events as one block.
    func joined(_ parts: [StreamBlock]) -> StreamBlock {
        let count = parts.reduce(0) { $0 + $1.count }
        return StreamBlock(capacity: count, account: account) { output in
            for part in parts { part.withContent { output.append(copying: $0) } }
        }
    }

    /// Deflate blocks of the text, for a reader that just got the bytes of `before`.
    func chained(_ text: StreamBlock, after before: StreamBlock) -> StreamBlock {
        let blocks = text.withContent { text in
            before.withContent { before in
                compressor?.chained(text, after: before) ?? StreamCompressor.stored(text)
            }
        }
        return block(blocks)
    }

    /// Deflate blocks of the text that do not refer to earlier bytes.
    func independent(_ text: StreamBlock) -> StreamBlock { block(text.withContent { independent($0) }) }

    /// Deflate blocks of a text with which many streams begin.
    func shared(_ text: Span<UInt8>) -> SharedBytes { SharedBytes(independent(text), account: account) }

    /// Deflate blocks of a text that is sent to one stream only.
    func independent(_ text: Span<UInt8>) -> [UInt8] {
        compressor?.independent(text) ?? StreamCompressor.stored(text)
    }
}
