/// A parsed head.
package struct HTTPHead: Sendable {
    /// The request; its body is still empty.
    var request: HTTPRequest
    var framing: Framing
    /// True if the peer waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool

    /// The way in which the end of a request's body is determined.
    ///
    /// Source: RFC 9112 section 6.3.
    package enum Framing: Hashable, Sendable {
        case none
        case length(Int)
        case chunked
    }
}

/// The HTTP version of a request; a later 1.x is treated as 1.1.
///
/// Source: RFC 9112 section 2.3.
package enum HTTPVersion: Hashable, Sendable {
    case http10, http11
}
