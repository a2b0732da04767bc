/// One `name=value` item of a query, decoded; an item without "=" has an empty value.
package struct HTTPQueryItem: Hashable, Sendable {
    package let name: String
    package let value: String

    /// Makes an item of decoded text.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Returns the items of `query` in order; empty items ("a&&b") are left out.
    ///
    /// Source: <https://url.spec.whatwg.org/#urlencoded-parsing>.
    static func items(of query: ArraySlice<UInt8>) -> [HTTPQueryItem] {
        query.split(separator: UInt8(ascii: "&")).map { item in
            let equals = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            return HTTPQueryItem(
                name: PercentCoding.decodedFormString(item[..<equals]),
                value: PercentCoding.decodedFormString(item[equals...].dropFirst())
            )
        }
    }
}
