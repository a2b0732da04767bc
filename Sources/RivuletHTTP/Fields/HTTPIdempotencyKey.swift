/// The key by which a client marks a request as a retry of an earlier one.
///
/// The key is a structured string, `"8e03978e-40d5"`. A bare key of token characters, ":" and "/" is accepted too.
/// Parameters are ignored. Sources: draft-ietf-httpapi-idempotency-key-header-07 section 2.1, RFC 9651 section 3.3.3.
package struct HTTPIdempotencyKey: Hashable, Sendable {
    /// The maximum number of bytes of a key.
    package static let bytesMax = 255

    /// The key without quotes: 1 to `bytesMax` printable ASCII characters.
    package let text: String

    /// Parses the key in a field's value; nil if it is malformed, empty or too long.
    package init?(_ field: String) {
        let bytes = Array(field.utf8)[...]
        let key = bytes.first == UInt8(ascii: "\"") ? Self.string(bytes) : Self.bare(bytes)
        guard let key, (1...Self.bytesMax).contains(key.count) else { return nil }
        text = String(decoding: key, as: UTF8.self)
    }

    private static func string(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var rest = bytes.dropFirst()
        var key: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return isEnd(rest) ? key : nil
            case UInt8(ascii: "\\"):
                // Only the quote and the backslash can be escaped.
                guard let escaped = rest.popFirst(), escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\")
                else {
                    return nil
                }
                key.append(escaped)
            case ASCII.space..<ASCII.delete: key.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private static func bare(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        let key = bytes.prefix { ASCII.isToken($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        return isEnd(bytes[key.endIndex...]) ? Array(key) : nil
    }

    /// Returns true if only parameters follow.
    private static func isEnd(_ rest: ArraySlice<UInt8>) -> Bool { rest.isEmpty || rest.first == UInt8(ascii: ";") }
}
