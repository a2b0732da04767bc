/// One header field of a response.
package struct HTTPField: Hashable, Sendable {
    /// The name, which is a token; it is written unchanged.
    package let name: String
    /// The value, without control bytes, so that no value can split the response.
    package let value: String

    /// Makes a field; `name` must be a token, and control bytes in `value` become spaces.
    ///
    /// A field that is the same in every response should be made once.
    package init(_ name: String, _ value: String) {
        assert(name.utf8.allSatisfy(ASCII.isToken) && !name.isEmpty, "header name \"\(name)\" is not a token")
        self.name = name
        self.value = ASCII.isText(value) ? value : Self.withoutControls(value)
    }

    /// Makes a field of texts from outside; nil if the name is no token, or if the value has a control byte.
    package init?(checking name: String, _ value: String) {
        guard !name.isEmpty, name.utf8.allSatisfy(ASCII.isToken), ASCII.isText(value) else { return nil }
        self.init(name, value)
    }

    private static func withoutControls(_ value: String) -> String {
        String(decoding: value.utf8.map { ASCII.isText($0) ? $0 : ASCII.space }, as: UTF8.self)
    }
}
