/// A request method; methods are case-sensitive.
///
/// Source: RFC 9110 section 9.
package enum HTTPMethod: Hashable, Sendable {
    case get, head, post, put, patch, delete, options, trace
    /// A token Rivulet has no name for, at most `HTTPLimits.methodBytesMax` long.
    case other(String)

    /// The method whose name is exactly `name`.
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

    /// The method as it stands in a request line and in an `Allow` header.
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

    /// Whether the method only reads.
    ///
    /// Source: RFC 9110 section 9.2.1.
    package var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace: true
        case .post, .put, .patch, .delete, .other: false
        }
    }
}
