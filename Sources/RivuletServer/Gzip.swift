// Part of Rivulet. See README.md for the architecture.
// Owns gzip, by zlib.

import CZlib

/// The gzip format.
///
/// Source: RFC 1952, zlib.net/manual.html.
enum Gzip {
    /// 15 bits of window, and 16 for a gzip head and trailer.
    private static let windowBits: Int32 = 15 + 16
    private static let memoryLevel: Int32 = 9

    /// The bytes at the best compression; nil when zlib refuses (it lacks memory).
    static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = unsafe z_stream()
        // SAFETY: the stream stays in this frame, between init and end; zlib keeps pointers into it only until deflateEnd.
        return unsafe withUnsafeMutablePointer(to: &stream) { stream in
            guard
                unsafe deflateInit2_(
                    stream,
                    Z_BEST_COMPRESSION,
                    Z_DEFLATED,
                    windowBits,
                    memoryLevel,
                    Z_DEFAULT_STRATEGY,
                    ZLIB_VERSION,
                    Int32(MemoryLayout<z_stream>.size)
                ) == Z_OK
            else { return nil }
            defer { unsafe deflateEnd(stream) }
            return unsafe deflate(bytes, with: stream)
        }
    }

    private static func deflate(_ bytes: [UInt8], with stream: UnsafeMutablePointer<z_stream>) -> [UInt8]? {
        let capacity = unsafe Int(deflateBound(stream, UInt(bytes.count)))
        var input = bytes
        let output = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            unsafe input.withUnsafeMutableBufferPointer { input in
                unsafe stream.pointee.next_in = input.baseAddress
                unsafe stream.pointee.avail_in = UInt32(clamping: input.count)
                unsafe stream.pointee.next_out = output.baseAddress
                unsafe stream.pointee.avail_out = UInt32(clamping: capacity)
                let isWhole = unsafe CZlib.deflate(stream, Z_FINISH) == Z_STREAM_END
                count = isWhole ? capacity - Int(unsafe stream.pointee.avail_out) : 0
            }
        }
        return output.isEmpty ? nil : output
    }
}
