internal import CZlib

/// The encoding of a snapshot's bytes in its row; the raw value is the column `enc`.
package enum SnapshotEncoding: Int64 {
    case plain = 0
    case zlib = 1

    /// The largest state, in bytes, that is not compressed, because compression would gain little.
    static let plainBytesMax = 4_096

    /// Packs a state, compressed if it is large and compression makes it smaller.
    package static func pack(_ state: [UInt8]) -> (encoding: SnapshotEncoding, body: [UInt8]) {
        guard state.count > plainBytesMax, let body = compressed(state), body.count < state.count else {
            return (.plain, state)
        }
        return (.zlib, body)
    }

    /// Unpacks the result of `pack` for a state of `byteCount` bytes; nil if `pack` did not make it.
    package func unpack(_ body: [UInt8], byteCount: Int) -> [UInt8]? {
        switch self {
        case .plain: body.count == byteCount ? body : nil
        case .zlib: Self.decompressed(body, byteCount: byteCount)
        }
    }

    private static func compressed(_ state: [UInt8]) -> [UInt8]? {
        let capacity = compressBound(UInt(state.count))
        var result: Int32 = Z_OK
        let body = unsafe [UInt8](unsafeUninitializedCapacity: Int(capacity)) { buffer, count in
            var length = capacity
            result = unsafe compress2(buffer.baseAddress, &length, state, UInt(state.count), Z_BEST_SPEED)
            count = result == Z_OK ? Int(length) : 0
        }
        return result == Z_OK ? body : nil
    }

    private static func decompressed(_ body: [UInt8], byteCount: Int) -> [UInt8]? {
        var result: Int32 = Z_OK
        let state = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            var length = UInt(byteCount)
            result = unsafe uncompress(buffer.baseAddress, &length, body, UInt(body.count))
            count = result == Z_OK ? Int(length) : 0
        }
        return result == Z_OK && state.count == byteCount ? state : nil
    }
}
