import RivuletEventLoop
import RivuletHTTP

/// What the streams of one loop have their bytes made by.
final class StreamCoder {
    private let account: SharedBytes.Account
    /// Made when the first compressed stream comes; nil also when zlib has no memory, and then blocks are not compressed.
    private lazy var compressor = StreamCompressor()

    /// Makes bytes that are counted in the account.
    init(_ account: SharedBytes.Account) { self.account = account }

    /// A block of these bytes; not empty.
    func block(_ bytes: [UInt8]) -> StreamBlock { StreamBlock(bytes.span, account: account) }

    /// Several events as one block.
    func joined(_ parts: [StreamBlock]) -> StreamBlock {
        let count = parts.reduce(0) { $0 + $1.count }
        return StreamBlock(capacity: count, account: account) { output in
            for part in parts { part.withContent { output.append(copying: $0) } }
        }
    }

    /// Deflate blocks of the text for a reader whose last bytes are those of `before`.
    func chained(_ text: StreamBlock, after before: StreamBlock) -> StreamBlock {
        let blocks = text.withContent { text in
            before.withContent { before in
                compressor?.chained(text, after: before) ?? StreamCompressor.stored(text)
            }
        }
        return block(blocks)
    }

    /// Deflate blocks of the text for a reader of anything.
    func independent(_ text: StreamBlock) -> StreamBlock { block(text.withContent { independent($0) }) }

    /// The same of a text that many streams begin with.
    func shared(_ text: Span<UInt8>) -> SharedBytes { SharedBytes(independent(text), account: account) }

    /// The same of a text that one stream alone is sent.
    func independent(_ text: Span<UInt8>) -> [UInt8] {
        compressor?.independent(text) ?? StreamCompressor.stored(text)
    }
}
