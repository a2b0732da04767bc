import CZlib

/// One zlib stream for compression.
///
/// It is used on one thread at a time. Source: RFC 1951, RFC 1952, <https://zlib.net/manual.html>.
@safe
final class Deflater {
    /// The parameters of a zlib stream.
    struct Settings {
        /// 1 for speed to 9 for size.
        let level: Int32
        /// The exponent of the window's size; negative for bare deflate blocks, and 16 more for a gzip head and
        /// trailer.
        let windowBits: Int32
        /// 1 to 9; a higher level takes more memory and is faster.
        let memoryLevel: Int32
    }

    /// The part of the output that zlib returns.
    enum Flush {
        /// As much as zlib chooses, because more input follows.
        case none
        /// All output so far, up to a byte boundary.
        case sync
        /// All output and the end of the stream.
        case finish

        fileprivate var code: Int32 {
            switch self {
            case .none: Z_NO_FLUSH
            case .sync: Z_SYNC_FLUSH
            case .finish: Z_FINISH
            }
        }
    }

    // SAFETY: zlib keeps a pointer to the stream, so it is on the heap from `init` to `deinit` and never moves.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Makes a new stream; nil if there is no memory for it.
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
        // If this fails, `deinit` runs and frees the stream.
        guard status == Z_OK else { return nil }
    }

    deinit {
        // This call does nothing for a stream that could not be made.
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Starts the stream over for other bytes; false if the stream cannot be used.
    func reset() -> Bool { unsafe deflateReset(stream) == Z_OK }

    /// The most bytes of output for this number of bytes, compressed in one call with a flush.
    func byteCountMax(of count: Int) -> Int {
        // A flush may add a few bytes to the result of deflateBound.
        unsafe Int(deflateBound(stream, UInt(count))) + 16
    }

    /// Sets the text to which the next bytes may refer back; false if zlib refuses.
    func setDictionary(_ bytes: Span<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe deflateSetDictionary(stream, bytes.baseAddress, UInt32(clamping: bytes.count)) == Z_OK
        }
    }

    /// Compresses the next bytes.
    ///
    /// - Parameters:
    ///   - input: The bytes to compress. All of them are taken.
    ///   - flush: The part of the output that is returned now.
    ///   - output: The output is appended to it.
    ///   - pieceBytes: The most bytes that zlib returns at once. With `.sync` it must be enough for the whole output,
    ///     because zlib could otherwise write the end marker twice.
    /// - Returns: False if zlib refuses, which it never should. The output is then of no use.
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
                // The piece is not full, so zlib has no more output.
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
