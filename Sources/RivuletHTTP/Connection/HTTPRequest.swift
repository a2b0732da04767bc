/// A complete, well-formed request.
///
/// Every percent escape of the target is valid and decodes to UTF-8. The path has no escaped NUL. An HTTP/1.1 request
/// has exactly one well-formed host. The parser refuses any other request.
package struct HTTPRequest: Sendable {
    package let method: HTTPMethod
    package let version: HTTPVersion
    /// The header lines, without the trailers of a chunked body.
    package let headers: HTTPHeaders
    /// The body with its transfer coding removed; empty if there is none.
    package internal(set) var body: [UInt8] = []
    /// True if the peer accepts another response on this connection.
    package let isKeepAlive: Bool
    /// True if the request has an `Origin` or a `Sec-Fetch-Site` line, as requests of pages have.
    package let hasPageFields: Bool
    /// True if the request has a `traceparent` line, valid or not.
    package let hasTraceParent: Bool
    let location: HTTPTargetLocation

    /// The path as sent, with its percent escapes; begins with "/", or is "*" for a server-wide `OPTIONS`.
    package var path: String {
        location.path.isEmpty ? "/" : String(decoding: headers.block[location.path], as: UTF8.self)
    }

    /// The query as sent, without its question mark; nil if there is none.
    package var query: String? { location.query.map { String(decoding: headers.block[$0], as: UTF8.self) } }

    /// The host and port that the request is for, as sent; nil only for HTTP/1.0 without a host.
    ///
    /// The authority of an absolute target comes before the `Host` header. Source: RFC 9112 section 3.2.2.
    package var host: String? { location.authority.map { String(decoding: headers.block[$0], as: UTF8.self) } }

    /// Returns true if `host` has exactly these bytes.
    package func isHost(_ bytes: [UInt8]) -> Bool {
        guard let authority = location.authority, authority.count == bytes.count else { return false }
        return headers.block.span.extracting(authority).hasBytes(of: bytes.span)
    }

    /// Returns true if the path as sent is exactly this text.
    package func isPath(_ text: String) -> Bool { ASCII.isEqual(headers.block, location.path, text) }

    /// The path's segments, each percent-decoded after the split: "/a/b%2Fc" is `["a", "b/c"]`, "/" is `[""]`.
    ///
    /// Segments "." and ".." are not resolved, so a route that maps paths to files must refuse them.
    package var pathSegments: [String] { location.pathSegments(in: headers.block) }

    /// The query's items in order, names and values decoded; "+" is a space.
    ///
    /// Source: <https://url.spec.whatwg.org/#urlencoded-parsing>.
    package var queryItems: [HTTPQueryItem] {
        guard let range = location.query else { return [] }
        return HTTPQueryItem.items(of: headers.block[range])
    }

    /// Returns the value of the first query item called `name`.
    package func queryValue(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// Returns the bytes of the request's head without the lines of some names (in lower case), and with further
    /// fields.
    ///
    /// The request line and the other lines are as they were sent, except that names are in lower case.
    package func head(without names: Set<String>, adding fields: [HTTPField]) -> [UInt8] {
        headers.head(without: names, adding: fields)
    }
}
