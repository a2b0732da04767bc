/// A media type without its parameters.
///
/// Source: RFC 9110 section 8.3.1.
package struct HTTPMediaType: Hashable, Sendable {
    /// The type and subtype in lower case: "application/json".
    package let essence: String
    /// The charset parameter in lower case and without quotes; nil if there is none.
    package let charset: String?

    /// Parses the media type of a `Content-Type` field; nil if it is malformed.
    package init?(_ field: String) {
        // Nearly every dispatch has this media type, so it is not parsed.
        if field == "application/json" {
            essence = field
            charset = nil
            return
        }
        let parts = field.parts(between: UInt8(ascii: ";"), omittingEmpty: false).map(Self.trimmed)
        guard let essence = parts.first?.lowercased(), Self.isEssence(essence) else { return nil }
        self.essence = essence
        let value = parts.dropFirst().lazy.map { $0.lowercased() }.first { $0.hasPrefix("charset=") }?.dropFirst(8)
        charset = value.map { $0.filter { $0 != "\"" } }
    }

    /// True if text of this type is UTF-8, by its charset or because it has none.
    package var isUTF8: Bool { charset == nil || charset == "utf-8" || charset == "utf8" || charset == "us-ascii" }

    private static func isEssence(_ text: String) -> Bool {
        let halves = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return halves.count == 2 && halves.allSatisfy { !$0.isEmpty && $0.allSatisfy(ASCII.isToken) }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var result = text.drop { $0 == " " || $0 == "\t" }
        while result.last == " " || result.last == "\t" { result.removeLast() }
        return result
    }
}
