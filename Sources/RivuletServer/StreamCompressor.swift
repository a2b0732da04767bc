// Part of Rivulet. See README.md for the architecture.
// Owns the compression of stream events: once for all who get them.

import CZlib
import RivuletEventLoop

/// Makes deflate blocks that end at a byte, so that they can be put one behind the other in any stream whose reader has the text before.
///
/// One for a loop: 40 KB of zlib's memory, whatever the number of streams. On the loop's thread. Source: RFC 1951, zlib.net/manual.html.
@safe
final class StreamCompressor {
    /// A window of 4 KiB.
    private static let windowBits: Int32 = -12
    private static let memoryLevel: Int32 = 5
    private static let level: Int32 = 1
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

    // SAFETY: an initialised stream from `init` to `deinit` that never moves, as zlib keeps a pointer to it.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Nil when zlib has no memory.
    init?() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe deflateInit2_(
            stream,
            Self.level,
            Z_DEFLATED,
            Self.windowBits,
            Self.memoryLevel,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        guard status == Z_OK else {
            unsafe stream.deallocate()
            return nil
        }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
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
        var start = 0
        while start < text.count {
            let count = min(text.count - start, storedBytesMax)
            let (low, high) = (UInt8(count & 0xFF), UInt8(count >> 8))
            blocks += [0, low, high, ~low, ~high]
            for index in start..<start + count { blocks.append(text[index]) }
            start += count
        }
        return blocks
    }

    private func deflate(_ text: Span<UInt8>, after before: Span<UInt8>?) -> [UInt8] {
        guard text.count <= Self.bytesMax, unsafe deflateReset(stream) == Z_OK else { return Self.stored(text) }
        if let before, !setDictionary(before) { return Self.stored(text) }
        // A flush may add a few bytes to what deflateBound says.
        let capacity = unsafe Int(deflateBound(stream, UInt(text.count))) + 16
        let blocks = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            unsafe text.withUnsafeBytes { input in
                // SAFETY: zlib only reads from next_in, and within this call.
                let start = unsafe UnsafeMutableRawPointer(mutating: input.baseAddress)
                unsafe stream.pointee.next_in = start?.assumingMemoryBound(to: UInt8.self)
                unsafe stream.pointee.avail_in = UInt32(clamping: input.count)
                unsafe stream.pointee.next_out = output.baseAddress
                unsafe stream.pointee.avail_out = UInt32(clamping: capacity)
                let status = unsafe CZlib.deflate(stream, Z_SYNC_FLUSH)
                let isWhole = unsafe status == Z_OK && stream.pointee.avail_in == 0 && stream.pointee.avail_out > 0
                count = isWhole ? capacity - Int(unsafe stream.pointee.avail_out) : 0
            }
        }
        return blocks.isEmpty ? Self.stored(text) : blocks
    }

    private func setDictionary(_ before: Span<UInt8>) -> Bool {
        let tail = before.extracting(max(before.count - Self.windowBytes, 0)...)
        return unsafe tail.withUnsafeBytes { bytes in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe deflateSetDictionary(stream, start, UInt32(bytes.count)) == Z_OK
        }
    }
}
