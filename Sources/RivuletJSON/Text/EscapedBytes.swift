// This file searches for the bytes that a JSON string must escape.

extension Span<UInt8> {
    /// Returns the index of the first quote, backslash or control character from `start` on; the count if there is
    /// none.
    ///
    /// Eight bytes are checked at once. Source: RFC 8259 §7.
    func firstEscaped(from start: Int = 0) -> Int {
        unsafe withUnsafeBytes { bytes in
            var index = start
            while index + 8 <= bytes.count {
                // SAFETY: the eight bytes are within the span.
                let word = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let hits = Self.escaped(in: UInt64(littleEndian: word))
                guard hits == 0 else { return index + hits.trailingZeroBitCount / 8 }
                index += 8
            }
            // The word has zeros after the last bytes. A zero is a control character, so the search ends there.
            return unsafe index + Self.escaped(in: Self.lastBytes(bytes, from: index)).trailingZeroBitCount / 8
        }
    }

    /// Returns the bytes from `index` on, at most seven, as the low bytes of a word.
    private static func lastBytes(_ bytes: UnsafeRawBufferPointer, from index: Int) -> UInt64 {
        let count = bytes.count - index
        var (index, shift, word) = (index, UInt64(0), UInt64(0))
        // SAFETY: four, two and one bytes are loaded only if that many are left.
        if count & 4 != 0 {
            word = UInt64(UInt32(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)))
            (index, shift) = (index + 4, 32)
        }
        if count & 2 != 0 {
            let pair = UInt16(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt16.self))
            word |= UInt64(pair) &<< shift
            (index, shift) = (index + 2, shift + 16)
        }
        return count & 1 != 0 ? word | UInt64(unsafe bytes[index]) &<< shift : word
    }

    /// Returns a word with the high bit set in each byte that needs an escape.
    ///
    /// The subtraction of a bound sets the high bit of each byte below the bound. Bytes that had a high bit before are
    /// excluded. A byte below the bound borrows from the next byte, so only the lowest set bit is exact.
    private static func escaped(in word: UInt64) -> UInt64 {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let controls = (word &- ones &* 0x20) & ~word
        return (controls | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes) & highs
    }
}
