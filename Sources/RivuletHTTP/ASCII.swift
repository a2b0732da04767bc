// Part of Rivulet. See README.md for the architecture.
// Owns the byte classes of HTTP and URLs.

/// Classes of bytes, and the few characters the parser names.
enum ASCII {
    static var tab: UInt8 { 0x09 }
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
    static var space: UInt8 { 0x20 }
    static var delete: UInt8 { 0x7F }

    /// Whether `byte` may stand in a token (tchar).
    ///
    /// Source: RFC 9110 section 5.6.2.
    static func isToken(_ byte: UInt8) -> Bool {
        byte < 64 ? tokenLow >> UInt64(byte) & 1 == 1 : byte < 128 && tokenHigh >> UInt64(byte - 64) & 1 == 1
    }

    /// Whether `byte` is unreserved.
    ///
    /// Source: RFC 3986 section 2.3.
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isAlphanumeric(byte)
        }
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    static func isAlphanumeric(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20) &- UInt8(ascii: "a") < 26 }

    static func lowercased(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }

    /// The value of a hexadecimal digit, 0 to 15.
    static func hexValue(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte - UInt8(ascii: "0") }
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }

    /// The digit of a value below 16.
    static func upperHexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? value + UInt8(ascii: "0") : value - 10 + UInt8(ascii: "A")
    }

    /// The digit of a value below 16.
    static func lowerHexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? value + UInt8(ascii: "0") : value - 10 + UInt8(ascii: "a")
    }

    /// Bit n is set when byte n is a token character: a digit, or one of the marks below 64.
    private static var tokenLow: UInt64 { 0x03FF_6CFA_0000_0000 }
    /// Bit n is set when byte 64 + n is a token character: the letters and ^_`|~.
    private static var tokenHigh: UInt64 { 0x57FF_FFFF_C7FF_FFFE }
}
