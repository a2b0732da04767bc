package import RivuletJSON

/// One permission of a caller.
///
/// The permissions of a caller are a union, so a grant only adds.
///
/// ```json
/// {"actions": ["read", "dispatch"], "app": "todos", "sessions": ["${me}", "home"], "paths": ["/p/todos/*"]}
/// ```
///
/// Source: RFC 9396 section 2 for the place in a token.
package struct Grant: Sendable {
    package typealias Action = Access.Action

    /// The most values of one member.
    package static let valuesMax = 64
    /// The most grants of a token, of an API key, and of a role.
    package static let countMax = 64

    package let actions: Set<Action>
    /// A name, or `*` for all apps; nil in a grant of `operate` alone.
    package let app: String?
    /// Patterns of session ids.
    package let sessions: [GrantPattern]
    /// Key paths of the state; nil for the whole state, or for none if ``views`` has values.
    ///
    /// A grant of the whole state and of views has the empty path.
    package let paths: [GrantPath]?
    /// Names of events; nil for all.
    package let events: [String]?
    package let views: [String]
    package let stores: [String]
    package let values: [String]
    /// Patterns of item ids of the named stores; nil for all.
    package let items: [GrantPattern]?
    /// The members as they were read, without the type.
    package let json: JSONValue
    /// The grant of every caller; nil if it has variables.
    private(set) var bound: BoundGrant?

    /// True if a pattern has a variable.
    private var hasVariables: Bool {
        sessions.contains(where: \.hasVariables) || items?.contains(where: \.hasVariables) == true
            || paths?.contains(where: \.hasVariables) == true
    }

    /// Binds the grant once for all callers, if it has no variables.
    mutating func bindForAll() { bound = hasVariables ? nil : BoundGrant(self, of: .anonymous) }

    /// The approximate memory of the grant for all callers, in bytes.
    package var boundBytes: Int { bound?.bytes ?? 0 }

    /// True if a pattern has the subject or a claim, which no anonymous caller has.
    package var needsSubject: Bool {
        sessions.contains(where: \.needsSubject) || items?.contains(where: \.needsSubject) == true
            || paths?.contains(where: \.needsSubject) == true
    }
}

/// The error of a grant that is refused; the description is the end of a line and contains the fix.
package enum GrantError: Error, Hashable, CustomStringConvertible {
    case notObject
    case unknownMember(String)
    case unknownAction(String)
    case member(String, needs: String)
    case grantsNothing(String)
    case variable(String)
    case star(String)

    package var description: String {
        switch self {
        case .notObject: "is not an object."
        case .unknownMember(let name): "has the unknown member \(ForeignText.quoted(name)). Remove it."
        case .unknownAction(let name):
            "has the unknown action \(ForeignText.quoted(name)). Use one of \(Self.known) or *."
        case .member(let name, let needs): "needs \(needs) as \"\(name)\"."
        case .grantsNothing(let text): "grants nothing: \(text)."
        case .variable(let text):
            "has a variable out of place in \(ForeignText.quoted(text)). ${me} stands anywhere, "
                + "${sub} and ${claim.NAME} are a whole session or a whole token of a path."
        case .star(let text):
            "has a * out of place in \(ForeignText.quoted(text)). In a path, a * is a whole token."
        }
    }

    private static let known = Grant.Action.allCases.map(\.rawValue).joined(separator: ", ")
}
