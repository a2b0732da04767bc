/// A request method; methods are case-sensitive.
///
/// Source: RFC 9110 section 9.
package enum HTTPMethod: Hashable, Sendable {
    case get, head, post, put, patch, delete, options, trace
    /// Any other token, of at most `HTTPLimits.methodBytesMax` bytes.
    case other(String)

    /// Makes the method with exactly this name.
    package init(_ name: String) {
        switch name {
        case "GET": self = .get
        case "HEAD": self = .head
        case "POST": self = .post
        case "PUT": self = .put
        case "PATCH": self = .patch
        case "DELETE": self = .delete
        case "OPTIONS": self = .options
        case "TRACE": self = .trace
        default: self = .other(name)
        }
    }

    /// The method's name in a request line and in an `Allow` header.
    package var name: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .trace: "TRACE"
        case .other(let name): name
        }
    }

    /// True if the method only reads.
    ///
    /// Source: RFC 9110 section 9.2.1.
    package var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace: true
        case .post, .put, .patch, .delete, .other: false
        }
    }
}
