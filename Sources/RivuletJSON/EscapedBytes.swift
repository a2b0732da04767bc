// Part of Rivulet. See README.md for the architecture.
// Owns the search for what a JSON string cannot have as it is.

extension Span<UInt8> {
    /// The index of the first quote, backslash or control character from `start` on; the count when there is none.
    ///
    /// Eight bytes are looked at at once. Source: RFC 8259 §7.
    func firstEscaped(from start: Int = 0) -> Int {
        var index = start
        let found = unsafe withUnsafeBytes { bytes -> Int? in
            while index + 8 <= bytes.count {
                // SAFETY: the eight bytes are within the span.
                let word = UInt64(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let hits = Self.escaped(in: word)
                guard hits == 0 else { return index + hits.trailingZeroBitCount / 8 }
                index += 8
            }
            return nil
        }
        if let found { return found }
        while index < count {
            let byte = self[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            index += 1
        }
        return index
    }

    /// The high bits of such bytes: up to the first, which is all that is exact, as a byte below a bound borrows from the next one.
    ///
    /// The high bit of a byte that is below a bound stays when the bound is taken from it, unless it was there before.
    private static func escaped(in word: UInt64) -> UInt64 {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let controls = (word &- ones &* 0x20) & ~word
        return (controls | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes) & highs
    }
}
