/// A parsed head.
package struct HTTPHead: Sendable {
    /// The request; its body is still empty.
    var request: HTTPRequest
    var framing: Framing
    /// Whether the peer waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool

    /// How the end of a request's body is told.
    ///
    /// Source: RFC 9112 section 6.3.
    package enum Framing: Hashable, Sendable {
        case none
        case length(Int)
        case chunked
    }
}

/// The version a request was made with; a later 1.x counts as 1.1.
///
/// Source: RFC 9112 section 2.3.
package enum HTTPVersion: Hashable, Sendable {
    case http10, http11
}
