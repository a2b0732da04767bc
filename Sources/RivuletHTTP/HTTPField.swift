// Part of Rivulet. See README.md for the architecture.
// Owns one header field of a response.

/// One header field of a response.
package struct HTTPField: Hashable, Sendable {
    /// A token; written as it is given.
    package let name: String
    /// Written as it is given, except that control bytes become spaces: a value cannot split the response.
    package let value: String

    /// A field; `name` must be a token.
    package init(_ name: String, _ value: String) {
        precondition(name.utf8.allSatisfy(ASCII.isToken) && !name.isEmpty, "header name \"\(name)\" is not a token")
        self.name = name
        self.value = value
    }
}
