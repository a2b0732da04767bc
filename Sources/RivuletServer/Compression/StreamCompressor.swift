import RivuletEventLoop

/// Makes deflate blocks that end at a byte boundary.
///
/// Such blocks can be joined in any stream whose reader already has the text that they refer to. Each loop has one
/// compressor: 40 KB of zlib's memory for any number of streams. It is used on the loop's thread. Source: RFC 1951.
final class StreamCompressor {
    /// A window of 4 KiB, and no gzip head.
    private static let settings = Deflater.Settings(level: 1, windowBits: -12, memoryLevel: 5)
    /// The largest window, and no gzip head.
    private static let wholeSettings = Deflater.Settings(level: 1, windowBits: -15, memoryLevel: 8)
    /// The number of bytes of the earlier text that the compressor refers back to.
    private static let windowBytes = 4_096
    /// The most bytes of a block that is not compressed.
    ///
    /// Source: RFC 1951 §3.2.4.
    private static let storedBytesMax = 65_535
    /// The fewest bytes for which compression without an earlier text saves enough.
    private static let independentBytesMin = 512
    /// The most bytes that are compressed on the loop; more would keep it from its other work for over 2 ms.
    ///
    /// A long text with which many streams begin is compressed on another thread.
    private static let bytesMax = 262_144

    /// The head of a gzip body: deflate, no name, no time, an unknown system.
    ///
    /// Source: RFC 1952 §2.3.
    static let head: [UInt8] = [0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0xFF]

    private let deflater: Deflater

    /// Makes a compressor; nil if zlib has no memory.
    init?() {
        guard let deflater = Deflater(Self.settings) else { return nil }
        self.deflater = deflater
    }

    /// Compresses a long text into blocks that do not refer to earlier bytes; nil if zlib has no memory.
    ///
    /// It takes 8 ms for each MiB, and 268 KB of memory meanwhile. Do not call it on a loop's thread.
    static func whole(_ text: Span<UInt8>) -> [UInt8]? {
        guard let deflater = Deflater(wholeSettings) else { return nil }
        var blocks: [UInt8] = []
        let isWhole = deflater.append(text, .sync, to: &blocks, pieceBytes: deflater.byteCountMax(of: text.count))
        return isWhole ? blocks : nil
    }

    /// The text as blocks that do not refer to earlier bytes.
    func independent(_ text: Span<UInt8>) -> [UInt8] {
        guard text.count >= Self.independentBytesMin else { return Self.stored(text) }
        return deflate(text, after: nil)
    }

    /// The text as blocks, for a reader that just got the bytes of `before`.
    func chained(_ text: Span<UInt8>, after before: Span<UInt8>) -> [UInt8] { deflate(text, after: before) }

    /// The text in uncompressed blocks.
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
