/// What a client would like, if the server can.
///
/// A preference never makes a request fail: what is malformed or unknown is passed over. Of several preferences with one name the
/// first counts. Source: RFC 7240.
package struct HTTPPreferences: Hashable, Sendable {
    /// The values by the names in lower case; empty for a preference without a value.
    private let values: [String: String]

    /// The preferences of a `Prefer` field, its lines joined by commas; nil for a request without one.
    package init(_ field: String?) {
        guard let field else {
            values = [:]
            return
        }
        var values: [String: String] = [:]
        var scanner = HTTPFieldScanner(field)
        while !scanner.isAtEnd {
            if let (name, value) = scanner.assignment(), values[name] == nil { values[name] = value }
            // Parameters belong to no preference that is known here.
            scanner.skip(to: UInt8(ascii: ","))
        }
        self.values = values
    }

    /// The value of a preference, empty when it has none; nil when the client does not have it.
    ///
    /// `name` is in lower case.
    package subscript(name: String) -> String? { values[name] }

    /// Whether the client wants an answer without a body, `return=minimal`.
    ///
    /// Source: RFC 7240 section 4.2.
    package var wantsMinimal: Bool { values["return"]?.lowercased() == "minimal" }
}
