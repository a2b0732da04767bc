/// The preferences of a client, which the server follows if it can.
///
/// A preference never makes a request fail. Malformed or unknown preferences are ignored. Of several preferences with
/// one name, the first applies. Source: RFC 7240.
package struct HTTPPreferences: Hashable, Sendable {
    /// The values by names in lower case; empty for a preference without a value.
    private let values: [String: String]

    /// Parses a `Prefer` field, with its lines joined by commas; `field` is nil for a request without this field.
    package init(_ field: String?) {
        guard let field else {
            values = [:]
            return
        }
        var values: [String: String] = [:]
        var scanner = HTTPFieldScanner(field)
        while !scanner.isAtEnd {
            if let (name, value) = scanner.assignment(), values[name] == nil { values[name] = value }
            // Parameters are skipped, because no known preference has any.
            scanner.skip(to: UInt8(ascii: ","))
        }
        self.values = values
    }

    /// The value of a preference, empty if it has none; nil if the client did not send the preference.
    ///
    /// `name` is in lower case.
    package subscript(name: String) -> String? { values[name] }

    /// True if the client wants an answer without a body, `return=minimal`.
    ///
    /// Source: RFC 7240 section 4.2.
    package var wantsMinimal: Bool { values["return"]?.lowercased() == "minimal" }
}
