internal import CZlib

/// A CRC-32 over the columns of a row, each in a form that cannot be mistaken for its neighbour.
struct RowChecksum {
    private var crc: UInt = 0

    /// The checksum as it is stored.
    var stored: Int64 { Int64(crc) }

    mutating func add(_ value: Int64) {
        unsafe withUnsafeBytes(of: value.littleEndian) { bytes in unsafe add(bytes) }
    }

    /// Adds the length and the bytes.
    mutating func add(_ bytes: [UInt8]) {
        add(Int64(bytes.count))
        unsafe bytes.withUnsafeBytes { bytes in unsafe add(bytes) }
    }

    /// Adds the length and the UTF-8; nil is not the same as an empty text.
    mutating func add(_ text: String?) {
        guard var text else { return add(-1) }
        add(Int64(text.utf8.count))
        text.withUTF8 { utf8 in unsafe add(UnsafeRawBufferPointer(utf8)) }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        // crc32_z takes any length; a null address would start anew.
        guard let start = bytes.baseAddress else { return }
        crc = unsafe crc32_z(crc, start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }
}
