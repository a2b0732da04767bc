// Part of Rivulet. See README.md for the architecture.
// Owns how the events of streams become the bytes that are sent.

import RivuletEventLoop

/// What the streams of one loop have their bytes made by.
final class StreamCoder {
    private let account: SharedBytes.Account
    /// Made when the first compressed stream comes; nil also when zlib has no memory, and then blocks are not compressed.
    private lazy var compressor = StreamCompressor()

    /// Makes bytes that are counted in the account.
    init(_ account: SharedBytes.Account) { self.account = account }

    /// Bytes that many are sent.
    func shared(_ bytes: [UInt8]) -> SharedBytes { SharedBytes(bytes, account: account) }

    /// Several events as one.
    func joined(_ parts: [SharedBytes]) -> SharedBytes {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(parts.reduce(0) { $0 + $1.count })
        for part in parts { part.append(to: &bytes) }
        return shared(bytes)
    }

    /// Deflate blocks of the text for a reader whose last bytes are those of `before`.
    func chained(_ text: SharedBytes, after before: SharedBytes) -> SharedBytes {
        let blocks = text.withBytes { text in
            before.withBytes { before in
                compressor?.chained(text, after: before) ?? StreamCompressor.stored(text)
            }
        }
        return shared(blocks)
    }

    /// Deflate blocks of the text for a reader of anything.
    func independent(_ text: SharedBytes) -> SharedBytes { shared(text.withBytes { independent($0) }) }

    /// The same of a text that one stream alone is sent.
    func independent(_ text: Span<UInt8>) -> [UInt8] {
        compressor?.independent(text) ?? StreamCompressor.stored(text)
    }
}
