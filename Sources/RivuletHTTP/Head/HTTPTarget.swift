/// A request target of the form `/path?query`, outside of a request.
///
/// Source: RFC 9112 section 3.2.1.
package struct HTTPTarget: Hashable, Sendable {
    /// The path's segments, each percent-decoded after the split.
    package let pathSegments: [String]
    /// The query's items in order, decoded.
    package let queryItems: [HTTPQueryItem]

    /// Reads a target; nil for another form, a space, a control character, a fragment, or a wrong percent escape.
    package init?(_ text: String) {
        let block = Array(text.utf8)
        guard block.first == UInt8(ascii: "/"), block.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
            let location = try? HTTPTargetParser.parse(block, block.indices, .get)
        else { return nil }
        pathSegments = location.pathSegments(in: block)
        queryItems = location.query.map { HTTPQueryItem.items(of: block[$0]) } ?? []
    }
}
