// This file reads quoted text and its escapes.

extension JSONReader {
    /// Reads a string.
    ///
    /// The position is at the opening quote.
    mutating func scanString() throws(JSONError) -> String {
        position += 1
        let start = position
        try scanRun()
        guard bytes[position] == UInt8(ascii: "\\") else {
            let first = bytes.startIndex
            let text = try text(of: bytes.span.extracting(start - first..<position - first), from: start)
            position += 1
            return text
        }
        return try scanEscapedString(from: start)
    }

    /// Reads the rest of a string from its first escape.
    ///
    /// The string begins at `start`.
    private mutating func scanEscapedString(from start: Int) throws(JSONError) -> String {
        var content: [UInt8] = []
        var run = start
        while bytes[position] == UInt8(ascii: "\\") {
            content.append(contentsOf: bytes[run..<position])
            try scanEscape(into: &content)
            run = position
            try scanRun()
        }
        content.append(contentsOf: bytes[run..<position])
        let text = try text(of: content.span, from: start)
        position += 1
        return text
    }

    /// Moves to the next quote or backslash.
    private mutating func scanRun() throws(JSONError) {
        position = runEnd(from: position)
        guard position < bytes.endIndex else { throw unexpected("the string's closing quote", at: position) }
        guard bytes[position] >= 0x20 else { throw unexpected("an escape for a control character", at: position) }
    }

    /// Returns the position of the next quote, backslash or control character, or the end of the text.
    private func runEnd(from start: Int) -> Int {
        bytes.startIndex + bytes.span.firstEscaped(from: start - bytes.startIndex)
    }

    private mutating func scanEscape(into content: inout [UInt8]) throws(JSONError) {
        let start = position
        position += 1
        let byte = position < bytes.endIndex ? bytes[position] : 0
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"): content.append(contentsOf: try scanScalar(from: start).utf8)
        default: throw unexpected("an escape: one of \" \\ / b f n r t u", at: position - 1)
        }
    }

    /// Reads the digits after `\u`, and also the second half of a surrogate pair.
    private mutating func scanScalar(from start: Int) throws(JSONError) -> String {
        let first = try scanHexadecimal()
        if let scalar = UnicodeScalar(first) { return String(Character(scalar)) }
        guard first < 0xDC00, position + 1 < bytes.endIndex,
            bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u")
        else { throw error(.malformed, "half of a surrogate pair stands alone", at: start) }
        position += 2
        let second = try scanHexadecimal()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = UnicodeScalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw error(.malformed, "half of a surrogate pair stands alone", at: start) }
        return String(Character(scalar))
    }

    private mutating func scanHexadecimal() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = position < bytes.endIndex ? bytes[position] : 0
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw unexpected("a hexadecimal digit", at: position)
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private func text(of content: Span<UInt8>, from start: Int) throws(JSONError) -> String {
        do {
            return String(copying: try UTF8Span(validating: content))
        } catch {
            throw self.error(.malformed, "the string is not valid UTF-8", at: start)
        }
    }
}
