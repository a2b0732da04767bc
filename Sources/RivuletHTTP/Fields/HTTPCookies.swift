/// The cookies of a request.
///
/// Source: RFC 6265 section 5.4.
package enum HTTPCookies {
    /// Returns the values of all cookies called `name`, unchanged and in the order in which they were sent.
    ///
    /// Cookies of different paths or domains may share a name. `fields` are the values of all `Cookie` lines.
    package static func values(of name: String, in fields: [String]) -> [String] {
        fields.flatMap { field in
            field.parts(between: UInt8(ascii: ";")).compactMap { pair in
                let pair = trimmed(pair)
                guard let equals = pair.firstIndex(of: UInt8(ascii: "=")), pair[..<equals].elementsEqual(name.utf8)
                else { return nil }
                return String(Substring(pair[equals...].dropFirst()))
            }
        }
    }

    /// Returns the bytes without surrounding white space.
    private static func trimmed(_ text: Substring) -> Substring.UTF8View {
        var bytes = text.utf8.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return bytes
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
