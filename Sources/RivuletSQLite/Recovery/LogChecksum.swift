/// The checksum of a write-ahead log, which each frame continues from the previous frame.
///
/// Source: <https://sqlite.org/fileformat2.html#walcksm>
struct LogChecksum: Hashable {
    private(set) var first: UInt32 = 0
    private(set) var second: UInt32 = 0

    init() {}

    /// Reads a stored checksum.
    init(in bytes: RawSpan, at offset: Int) {
        first = bytes.bigEndian(at: offset)
        second = bytes.bigEndian(at: offset + 4)
    }

    /// Adds bytes; their count must be a multiple of 8.
    ///
    /// Otherwise the bytes after the last multiple of 8 are left out.
    mutating func add(_ bytes: RawSpan, isBigEndian: Bool) {
        var (one, two) = (first, second)
        unsafe bytes.withUnsafeBytes { buffer in
            // The byte order is checked once, outside of the loop, so that the loop runs at the speed of memory.
            if isBigEndian == (1.bigEndian == 1) {
                for offset in stride(from: 0, to: buffer.count & ~7, by: 8) {
                    one &+= unsafe buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self) &+ two
                    two &+= unsafe buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self) &+ one
                }
            } else {
                for offset in stride(from: 0, to: buffer.count & ~7, by: 8) {
                    one &+= unsafe buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self).byteSwapped &+ two
                    two &+= unsafe buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self).byteSwapped &+ one
                }
            }
        }
        (first, second) = (one, two)
    }
}

extension RawSpan {
    /// Returns the number at an offset, most significant byte first.
    func bigEndian(at offset: Int) -> UInt32 {
        UInt32(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
