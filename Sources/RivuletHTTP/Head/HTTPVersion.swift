/// The version a request was made with; a later 1.x counts as 1.1.
///
/// Source: RFC 9112 section 2.3.
package enum HTTPVersion: Hashable, Sendable {
    case http10, http11
}
