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
    /// The actions that a grant can name.
    package enum Action: String, CaseIterable, Sendable {
        case describe, read, dispatch, create, delete, list, history, restore, fork, write, secrets
        /// The routes of operators. `"*"` does not contain it.
        case operate

        /// True if the action is one on sessions alone.
        ///
        /// `read` is also one on stores and values.
        var needsSessions: Bool {
            switch self {
            case .dispatch, .create, .delete, .list, .history, .restore, .fork: true
            case .describe, .read, .write, .secrets, .operate: false
            }
        }
    }

    /// The most values of one member.
    package static let valuesMax = 64

    package let actions: Set<Action>
    /// A name, or `*` for all apps; nil in a grant of `operate` alone.
    package let app: String?
    /// Patterns of session ids, with variables that are not replaced yet.
    package let sessions: [String]
    /// Key paths of the state; nil for the whole state, or for none if ``views`` has values.
    package let paths: [String]?
    /// Names of events; nil for all.
    package let events: [String]?
    package let views: [String]
    package let stores: [String]
    package let values: [String]
    /// Patterns of item ids of the named stores, with variables; nil for all.
    package let items: [String]?
}

/// The reason that a grant is refused; the description is the end of a line and contains the fix.
package enum GrantFault: Error, Hashable, CustomStringConvertible {
    case notObject
    case unknownMember(String)
    case unknownAction(String)
    case member(String, needs: String)
    case grantsNothing(String)
    case variable(String)

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
        }
    }

    private static let known = Grant.Action.allCases.map(\.rawValue).joined(separator: ", ")
}
