/// Bytes as letters and digits of one case: `a-z` and `2-7`, without padding.
///
/// Source: RFC 4648 section 6, in lower case.
package enum Base32 {
    private static let digits = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// Returns the text of the bytes: a character for each 5 bits, the last bits filled up with zeros.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        var (pending, bits): (UInt32, Int) = (0, 0)
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(digits[Int(pending >> UInt32(bits) & 31)])
            }
            pending &= (1 << UInt32(bits)) - 1
        }
        if bits > 0 { text.append(digits[Int(pending << UInt32(5 - bits) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }
}
