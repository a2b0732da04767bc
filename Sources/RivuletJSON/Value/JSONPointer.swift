import RivuletBase

/// A path into a JSON value.
///
/// Tokens are the same if they have the same bytes.
/// Source: RFC 6901.
public struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
    /// The unescaped reference tokens from the root down; none for the whole value.
    public let tokens: [String]

    /// Creates a pointer of unescaped tokens.
    public init(tokens: [String]) {
        self.tokens = tokens
    }

    /// Reads a pointer's text: empty, or `/` before every token, with `~0` for `~` and `~1` for `/`.
    ///
    /// - Throws: `malformed` if the text does not begin with `/`, or has a `~` that is not an escape. The offset
    ///   counts bytes of the text.
    public init(parsing text: String) throws(JSONError) {
        guard let first = text.utf8.first else {
            tokens = []
            return
        }
        guard first == UInt8(ascii: "/") else {
            throw JSONError(kind: .malformed, detail: "a JSON Pointer is empty or begins with \"/\"; found \"\(text)\"")
        }
        var tokens: [String] = []
        var token: [UInt8] = []
        var isEscape = false
        for (offset, byte) in text.utf8.enumerated().dropFirst() {
            switch (isEscape, byte) {
            case (true, UInt8(ascii: "0")): token.append(UInt8(ascii: "~"))
            case (true, UInt8(ascii: "1")): token.append(UInt8(ascii: "/"))
            case (true, _): throw Self.badEscape(at: offset - 1)
            case (false, UInt8(ascii: "~")): break
            case (false, UInt8(ascii: "/")):
                tokens.append(String(decoding: token, as: UTF8.self))
                token.removeAll(keepingCapacity: true)
            case (false, _): token.append(byte)
            }
            isEscape = !isEscape && byte == UInt8(ascii: "~")
        }
        guard !isEscape else { throw Self.badEscape(at: text.utf8.count - 1) }
        tokens.append(String(decoding: token, as: UTF8.self))
        self.tokens = tokens
    }

    /// The pointer's escaped text.
    public var description: String {
        var text = ""
        for token in tokens {
            text += "/"
            text += Self.escape(token)
        }
        return text
    }

    /// Returns true if both have the same tokens, byte for byte.
    public static func == (left: JSONPointer, right: JSONPointer) -> Bool {
        left.tokens.count == right.tokens.count && left.isPrefix(of: right)
    }

    /// Hashes the bytes of the tokens.
    public func hash(into hasher: inout Hasher) {
        for token in tokens { token.hashBytes(into: &hasher) }
        hasher.combine(tokens.count)
    }

    /// Returns true if this pointer equals the other one, or leads to a value that contains the other's value.
    public func isPrefix(of other: JSONPointer) -> Bool {
        other.tokens.starts(with: tokens) { $0.hasSameBytes(as: $1) }
    }

    /// Returns true if a change at this pointer changes the value that the other one points to.
    ///
    /// The same as ``isPrefix(of:)``.
    public func covers(_ other: JSONPointer) -> Bool {
        isPrefix(of: other)
    }

    /// Returns the token as it is written in a pointer's text: `~` becomes `~0`, `/` becomes `~1`.
    public static func escape(_ token: String) -> String {
        guard needsEscape(token) else { return token }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(token.utf8.count + 4)
        for byte in token.utf8 {
            switch byte {
            case UInt8(ascii: "~"): bytes.append(contentsOf: "~0".utf8)
            case UInt8(ascii: "/"): bytes.append(contentsOf: "~1".utf8)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func needsEscape(_ token: String) -> Bool {
        let text = token.utf8.span
        for index in text.indices where text[index] == UInt8(ascii: "~") || text[index] == UInt8(ascii: "/") {
            return true
        }
        return false
    }

    /// Returns a token as an array index; nil if the token is no index.
    ///
    /// An index has at most eighteen digits and no leading zero.
    public static func index(_ token: String) -> Int? {
        let digits = token.utf8
        guard (1...18).contains(digits.count), digits.first != UInt8(ascii: "0") || digits.count == 1 else {
            return nil
        }
        var index = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            index = index * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return index
    }

    private static func badEscape(at offset: Int) -> JSONError {
        JSONError(
            kind: .malformed,
            offset: offset,
            detail: "a \"~\" in a JSON Pointer is no escape; write \"~\" as \"~0\", and \"/\" inside a token as \"~1\""
        )
    }
}
