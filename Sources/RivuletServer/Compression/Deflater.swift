import CZlib

/// One zlib stream that compresses.
///
/// On one thread at a time. Source: RFC 1951, RFC 1952, <https://zlib.net/manual.html>.
@safe
final class Deflater {
    /// What zlib is made with.
    struct Settings {
        /// 1 for speed to 9 for size.
        let level: Int32
        /// The exponent of the window's size; negative for bare deflate blocks, and 16 more for a gzip head and trailer.
        let windowBits: Int32
        /// 1 to 9: more memory, and more speed.
        let memoryLevel: Int32
    }

    /// What of the output zlib hands over.
    enum Flush {
        /// What it likes, for more input comes.
        case none
        /// All, and it ends at a byte.
        case sync
        /// All, and the end.
        case finish

        fileprivate var code: Int32 {
            switch self {
            case .none: Z_NO_FLUSH
            case .sync: Z_SYNC_FLUSH
            case .finish: Z_FINISH
            }
        }
    }

    // SAFETY: zlib keeps a pointer to the stream, so it stands on the heap from `init` to `deinit` and never moves.
    private let stream: UnsafeMutablePointer<z_stream>

    /// A stream at its beginning; nil when there is no memory for it.
    init?(_ settings: Settings) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe deflateInit2_(
            stream,
            settings.level,
            Z_DEFLATED,
            settings.windowBits,
            settings.memoryLevel,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        // `deinit` follows.
        guard status == Z_OK else { return nil }
    }

    deinit {
        // On a stream that could not be made it does nothing.
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Begins anew, for other bytes; false when the stream is in no state to be used.
    func reset() -> Bool { unsafe deflateReset(stream) == Z_OK }

    /// The most bytes that so many become in one go, with a flush.
    func byteCountMax(of count: Int) -> Int {
        // A flush may add a few bytes to what deflateBound says.
        unsafe Int(deflateBound(stream, UInt(count))) + 16
    }

    /// Has the next bytes compressed with a look back to these; false when zlib refuses.
    func setDictionary(_ bytes: Span<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe deflateSetDictionary(stream, bytes.baseAddress, UInt32(clamping: bytes.count)) == Z_OK
        }
    }

    /// Compresses the next bytes.
    ///
    /// - Parameters:
    ///   - input: All of it is taken.
    ///   - flush: What is handed over now.
    ///   - output: Gets it at its end.
    ///   - pieceBytes: What zlib hands over at once: with `.sync` enough for all, as it would mark the end twice.
    /// - Returns: False when zlib refuses, which it never should: the output is of no use then.
    func append(_ input: Span<UInt8>, _ flush: Flush, to output: inout [UInt8], pieceBytes: Int) -> Bool {
        unsafe input.withUnsafeBufferPointer { input in
            // SAFETY: `next_in` is mutable for old compilers' sake; zlib only reads it, and within this call.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(clamping: input.count)
            defer { unsafe stream.pointee.next_in = nil }
            while true {
                let (piece, status) = nextPiece(flush.code, pieceBytes)
                if output.isEmpty { output = piece } else { output += piece }
                switch status {
                case Z_STREAM_END: return true
                case Z_OK where piece.count == pieceBytes: continue
                // The output has room left.
                case Z_OK, Z_BUF_ERROR: return unsafe flush != .finish && stream.pointee.avail_in == 0
                default: return false
                }
            }
        }
    }

    private func nextPiece(_ flush: Int32, _ capacity: Int) -> (bytes: [UInt8], status: Int32) {
        var status = Z_OK
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            unsafe stream.pointee.next_out = buffer.baseAddress
            unsafe stream.pointee.avail_out = UInt32(clamping: capacity)
            status = unsafe deflate(stream, flush)
            count = unsafe capacity - Int(stream.pointee.avail_out)
            unsafe stream.pointee.next_out = nil
        }
        return (bytes, status)
    }
}
