/// How the end of a response body is told.
///
/// Source: RFC 9112 section 6.
package enum HTTPBodyFraming: Hashable, Sendable {
    /// `Content-Length`; also what `HEAD` and 304 say of the body they do not carry.
    case length(Int)
    /// `Transfer-Encoding: chunked`; each part goes out through `HTTPChunk`. HTTP/1.0 gets `untilClose` instead.
    case chunked
    /// The body ends when the connection does; says `Connection: close`.
    case untilClose
    /// No body and no length: 1xx, 204, and a 304 that says nothing of the body.
    case none
}
