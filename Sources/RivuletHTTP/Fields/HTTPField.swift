/// One header field of a response.
package struct HTTPField: Hashable, Sendable {
    /// A token; written as it is given.
    package let name: String
    /// Without control bytes, so that no value can split the response.
    package let value: String

    /// A field; `name` must be a token, and control bytes in `value` become spaces.
    ///
    /// Fields that are the same in every response are best made once.
    package init(_ name: String, _ value: String) {
        assert(name.utf8.allSatisfy(ASCII.isToken) && !name.isEmpty, "header name \"\(name)\" is not a token")
        self.name = name
        self.value = ASCII.isText(value) ? value : Self.withoutControls(value)
    }

    private static func withoutControls(_ value: String) -> String {
        String(decoding: value.utf8.map { ASCII.isText($0) ? $0 : ASCII.space }, as: UTF8.self)
    }
}
