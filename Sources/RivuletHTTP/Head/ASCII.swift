/// Classes of bytes, and the characters that the parser names.
enum ASCII {
    static var tab: UInt8 { 0x09 }
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
    static var space: UInt8 { 0x20 }
    static var delete: UInt8 { 0x7F }

    /// Returns true if `byte` is allowed in a token (tchar).
    ///
    /// Source: RFC 9110 section 5.6.2.
    static func isToken(_ byte: UInt8) -> Bool { byte < 128 && tokenCharacters[Int(byte)] != 0 }

    /// Returns true if `byte` is allowed in a header value.
    ///
    /// A tab is allowed, and so is every byte that is not a control byte.
    ///
    /// Source: RFC 9110 section 5.5.
    static func isText(_ byte: UInt8) -> Bool { byte &- space < delete - space || byte > delete || byte == tab }

    /// Returns true if all bytes of `text` are allowed in a header value.
    static func isText(_ text: String) -> Bool {
        let bytes = text.utf8.span
        for index in bytes.indices where !isText(bytes[index]) { return false }
        return true
    }

    /// Returns true if the bytes of `block` at `range` are exactly `text`.
    static func isEqual(_ block: [UInt8], _ range: Range<Int>, _ text: String) -> Bool {
        let text = text.utf8.span
        guard range.count == text.count else { return false }
        for index in text.indices {
            guard block[range.lowerBound + index] == text[index] else { return false }
        }
        return true
    }

    /// Returns true if `byte` is unreserved.
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

    /// Returns the value of a hexadecimal digit, 0 to 15; nil for another byte.
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

    /// The token character of each byte below 128, in lower case; 0 if the byte is no token character.
    static let tokenCharacters: [UInt8] = [
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0x21, 0, 0x23, 0x24, 0x25, 0x26, 0x27, 0, 0, 0x2A, 0x2B, 0, 0x2D, 0x2E, 0,
        0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0, 0, 0, 0, 0, 0,
        0, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6A, 0x6B, 0x6C, 0x6D, 0x6E, 0x6F,
        0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0, 0, 0, 0x5E, 0x5F,
        0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6A, 0x6B, 0x6C, 0x6D, 0x6E, 0x6F,
        0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0, 0x7C, 0, 0x7E, 0,
    ]
}
