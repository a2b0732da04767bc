/// The cookies of a request.
///
/// Source: RFC 6265 section 5.4.
package enum HTTPCookies {
    /// The values of all cookies called `name`, in the order in which they were sent, as they were sent.
    ///
    /// There may be several, of several paths or domains; `fields` are the values of all `Cookie` lines.
    package static func values(of name: String, in fields: [String]) -> [String] {
        fields.flatMap { field in
            field.split(separator: ";").compactMap { pair in
                let trimmed = pair.drop { $0 == " " || $0 == "\t" }
                guard let equals = trimmed.firstIndex(of: "="), trimmed[..<equals] == name else { return nil }
                var value = trimmed[trimmed.index(after: equals)...]
                while value.last == " " || value.last == "\t" { value.removeLast() }
                return String(value)
            }
        }
    }
}
