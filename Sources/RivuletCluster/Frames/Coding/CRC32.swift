/// The cyclic redundancy check of Ethernet, zip and PNG.
///
/// Source: <https://www.w3.org/TR/png-3/#D-CRCAppendix>
enum CRC32 {
    /// Eight tables of 256 numbers: table k has the effect of a byte that k bytes follow.
    private static let tables: [UInt32] = {
        var tables = (0..<256).map { (byte: UInt32) in
            (0..<8).reduce(byte) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
        }
        for index in 256..<2_048 {
            let before = tables[index - 256]
            tables.append(before >> 8 ^ tables[Int(before & 0xFF)])
        }
        return tables
    }()

    /// Returns the check of the first `count` bytes.
    static func check(of bytes: [UInt8], count: Int) -> UInt32 {
        let (tables, bytes) = (tables, bytes)
        let (table, span) = (tables.span, bytes.span)
        var rest = UInt32.max
        var index = 0
        while index + 8 <= count {
            var word: UInt64 = 0
            for offset in 0..<8 { word |= UInt64(span[index + offset]) << UInt64(8 * offset) }
            word ^= UInt64(rest)
            rest = 0
            for offset in 0..<8 {
                rest ^= table[(7 - offset) << 8 | Int(word >> UInt64(8 * offset) & 0xFF)]
            }
            index += 8
        }
        while index < count {
            rest = rest >> 8 ^ table[Int((rest ^ UInt32(span[index])) & 0xFF)]
            index += 1
        }
        return ~rest
    }
}
