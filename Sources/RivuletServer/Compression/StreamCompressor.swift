import RivuletEventLoop

/// Makes deflate blocks that end at a byte, so that they can be put one behind the other in any stream whose reader has the text before.
///
/// One for a loop: 40 KB of zlib's memory, whatever the number of streams. On the loop's thread. Source: RFC 1951.
final class StreamCompressor {
    /// A window of 4 KiB, and no head.
    private static let settings = Deflater.Settings(level: 1, windowBits: -12, memoryLevel: 5)
    /// So much of the text before is worth looking back to.
    private static let windowBytes = 4_096
    /// The most bytes of a block that is not compressed.
    ///
    /// Source: RFC 1951 §3.2.4.
    private static let storedBytesMax = 65_535
    /// Fewer bytes without a text before are hardly fewer compressed.
    private static let independentBytesMin = 512
    /// More bytes would keep the loop from its other work: 2 ms.
    private static let bytesMax = 262_144

    /// What a gzip body begins with: deflate, no name, no time, an unknown system.
    ///
    /// Source: RFC 1952 §2.3.
    static let head: [UInt8] = [0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0xFF]

    private let deflater: Deflater

    /// Nil when zlib has no memory.
    init?() {
        guard let deflater = Deflater(Self.settings) else { return nil }
        self.deflater = deflater
    }

    /// The text as blocks for a reader of anything.
    func independent(_ text: Span<UInt8>) -> [UInt8] {
        guard text.count >= Self.independentBytesMin else { return Self.stored(text) }
        return deflate(text, after: nil)
    }

    /// The text as blocks for a reader whose last bytes are those of `before`.
    func chained(_ text: Span<UInt8>, after before: Span<UInt8>) -> [UInt8] { deflate(text, after: before) }

    /// The text as it is, in blocks.
    static func stored(_ text: Span<UInt8>) -> [UInt8] {
        var blocks: [UInt8] = []
        blocks.reserveCapacity(text.count + (text.count / storedBytesMax + 1) * 5)
        var start = 0
        while start < text.count {
            let count = min(text.count - start, storedBytesMax)
            let (low, high) = (UInt8(count & 0xFF), UInt8(count >> 8))
            blocks += [0, low, high, ~low, ~high]
            unsafe text.extracting(start..<start + count).withUnsafeBufferPointer { part in
                unsafe blocks.append(contentsOf: part)
            }
            start += count
        }
        return blocks
    }

    private func deflate(_ text: Span<UInt8>, after before: Span<UInt8>?) -> [UInt8] {
        guard text.count <= Self.bytesMax, deflater.reset() else { return Self.stored(text) }
        if let before {
            let tail = before.extracting(max(before.count - Self.windowBytes, 0)...)
            guard deflater.setDictionary(tail) else { return Self.stored(text) }
        }
        var blocks: [UInt8] = []
        let isWhole = deflater.append(text, .sync, to: &blocks, pieceBytes: deflater.byteCountMax(of: text.count))
        return isWhole ? blocks : Self.stored(text)
    }
}
