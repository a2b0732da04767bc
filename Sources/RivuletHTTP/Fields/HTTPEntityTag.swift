/// Conditions on entity tags; `tag` always has its quotes, and `W/` if it is weak.
///
/// Source: RFC 9110 sections 8.8.3 and 13.1.
package enum HTTPEntityTag {
    /// Returns true if an `If-None-Match` field is `*`, or names the tag by weak comparison.
    package static func matchesWeakly(_ field: String, tag: String) -> Bool {
        names(field) { opaque($0) == opaque(tag) }
    }

    /// Returns true if an `If-Match` field is `*`, or names the tag by strong comparison.
    ///
    /// A weak tag never matches by strong comparison.
    package static func matchesStrongly(_ field: String, tag: String) -> Bool {
        names(field) { $0 == tag && !isWeak(tag) }
    }

    /// Returns the tags of a field, including quotes and `W/`; nil if the field is not a list of tags.
    ///
    /// A comma inside quotes does not end a tag. Empty list items are allowed, as everywhere in HTTP.
    package static func list(_ field: String) -> [String]? {
        var tags: [String] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.first {
            if byte == UInt8(ascii: ",") || byte == ASCII.space || byte == ASCII.tab {
                rest.removeFirst()
                continue
            }
            guard let tag = tagPrefix(rest) else { return nil }
            tags.append(String(decoding: tag, as: UTF8.self))
            rest = rest[tag.endIndex...].drop { $0 == ASCII.space || $0 == ASCII.tab }
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
        }
        return tags
    }

    private static func names(_ field: String, _ isMatch: (String) -> Bool) -> Bool {
        field == "*" || list(field)?.contains(where: isMatch) ?? false
    }

    /// Returns the tag at the start of `bytes`: from the quote, or the `W/` before it, to the next quote.
    private static func tagPrefix(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let open = bytes.starts(with: "W/".utf8) ? bytes.startIndex + 2 : bytes.startIndex
        guard open < bytes.endIndex, bytes[open] == UInt8(ascii: "\"") else { return nil }
        let opaque = bytes[(open + 1)...].prefix { $0 > ASCII.space && $0 != UInt8(ascii: "\"") && $0 != ASCII.delete }
        guard opaque.endIndex < bytes.endIndex, bytes[opaque.endIndex] == UInt8(ascii: "\"") else { return nil }
        return bytes[...opaque.endIndex]
    }

    private static func isWeak(_ tag: String) -> Bool { tag.hasPrefix("W/") }

    private static func opaque(_ tag: String) -> Substring { isWeak(tag) ? tag.dropFirst(2) : tag[...] }
}
