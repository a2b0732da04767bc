/// A scanner of a field value of tokens, quoted strings and separators.
///
/// Source: RFC 9110 section 5.6.
struct HTTPFieldScanner {
    private var rest: ArraySlice<UInt8>

    init(_ field: String) {
        rest = Array(field.utf8)[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Reads `name` or `name=word`, with white space around each; nil if neither follows.
    ///
    /// The returned name is in lower case.
    mutating func assignment() -> (name: String, value: String)? {
        skipWhiteSpace()
        guard let name = token() else { return nil }
        skipWhiteSpace()
        guard rest.first == UInt8(ascii: "=") else { return (name.lowercased(), "") }
        rest.removeFirst()
        skipWhiteSpace()
        guard let value = rest.first == UInt8(ascii: "\"") ? quotedString() : token() ?? "" else { return nil }
        return (name.lowercased(), value)
    }

    /// Skips past the next separator outside quotes, or to the end.
    mutating func skip(to separator: UInt8) {
        while let byte = rest.first, byte != separator {
            if byte == UInt8(ascii: "\"") {
                if quotedString() == nil { rest = [] }
            } else {
                rest.removeFirst()
            }
        }
        _ = rest.popFirst()
    }

    private mutating func token() -> String? {
        let token = rest.prefix { ASCII.isToken($0) }
        guard !token.isEmpty else { return nil }
        rest = rest[token.endIndex...]
        return String(decoding: token, as: UTF8.self)
    }

    /// Reads the quoted string that begins here, without its quotes and escapes; nil if it does not end.
    private mutating func quotedString() -> String? {
        rest.removeFirst()
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped)
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func skipWhiteSpace() {
        rest = rest.drop { $0 == ASCII.space || $0 == ASCII.tab }
    }
}
