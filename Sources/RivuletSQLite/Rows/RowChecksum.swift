internal import CZlib

/// A CRC-32 over the columns of a row, with the lengths of texts and bytes, so that columns cannot be confused.
struct RowChecksum {
    private var crc: UInt = 0
    /// The numbers that are not in the checksum yet.
    ///
    /// One call of zlib for several numbers is faster than one call for each number.
    private var waiting = InlineArray<8, Int64>(repeating: 0)
    private var waitingCount = 0

    /// The checksum of all added data, as it is stored.
    var stored: Int64 {
        var checksum = self
        checksum.addWaiting()
        return Int64(checksum.crc)
    }

    mutating func add(_ value: Int64) {
        if waitingCount == waiting.count { addWaiting() }
        waiting[waitingCount] = value.littleEndian
        waitingCount += 1
    }

    /// Adds the length and the bytes.
    mutating func add(_ bytes: [UInt8]) {
        add(Int64(bytes.count))
        addWaiting()
        unsafe bytes.withUnsafeBytes { bytes in unsafe add(bytes) }
    }

    /// Adds the length and the UTF-8; nil and an empty text give different checksums.
    mutating func add(_ text: String?) {
        guard var text else { return add(-1) }
        add(Int64(text.utf8.count))
        addWaiting()
        text.withUTF8 { utf8 in unsafe add(UnsafeRawBufferPointer(utf8)) }
    }

    private mutating func addWaiting() {
        let count = waitingCount * MemoryLayout<Int64>.size
        waitingCount = 0
        let numbers = waiting
        unsafe numbers.span.bytes.withUnsafeBytes { bytes in
            unsafe add(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        // crc32_z takes any length. A null address would restart the checksum.
        guard unsafe !bytes.isEmpty, let start = bytes.baseAddress else { return }
        crc = unsafe crc32_z(crc, start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }
}
