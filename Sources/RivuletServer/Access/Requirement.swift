import RivuletAccess
import RivuletHTTP

/// The permission that a method of a resource needs on a server with credentials.
///
/// Source: <Documentation/Security.md#permissions>.
enum Requirement: Hashable, Sendable {
    /// No permission: the resource has no data, or the caller's own only.
    case nothing
    /// Any valid credential.
    case credential
    /// Any valid credential, or the action `describe`.
    case description
    /// The action `operate`.
    case operation
    /// The stream's own caller, or the action `operate`; decided where the stream is found.
    case stream
    /// The action on the session, or the other one; no array, because each request would allocate it.
    case session(Access.Action, or: Access.Action? = nil)
    /// The action, on at least one session of the app; its ids are decided by the endpoint.
    case sessions(Access.Action)
    /// The action `list`, or any credential for a list of the caller's own sessions; the endpoint decides.
    case list
    /// The action, on the store.
    case store(Access.Action)
    /// The action, on the value.
    case value(Access.Action)
    /// The action, on the app.
    case app(Access.Action)
}

extension Resource {
    /// The permission that a method needs; the method is one of `methods`.
    ///
    /// The switch has no default, so a new resource needs a decision.
    func requirement(for method: HTTPMethod) -> Requirement {
        let isReading = method == .get || method == .head
        return switch self {
        // Each caller may sign out, also with a cookie that is not valid, because `readsCookie` is false.
        case .login: method == .delete ? .nothing : .credential
        case .tickets: .credential
        case .health, .readiness, .problems, .problem, .file, .caller, .resourceMetadata: .nothing
        case .apps, .app, .types, .openAPI: .description
        case .metrics, .cluster, .streams, .revocations, .revocation: .operation
        case .stream: .stream
        case .sessions: isReading ? .list : .sessions(.create)
        case .session: .session(isReading ? .read : method == .delete ? .delete : .create)
        // A past state needs `history`, which the endpoint checks.
        case .state: isReading ? .session(.read, or: .history) : .session(.dispatch)
        case .events: .session(isReading ? .history : .dispatch)
        case .changes, .views, .view, .viewChanges: .session(.read)
        case .reset, .restore: .session(.restore)
        case .fork: .session(.fork)
        case .store, .item: .store(isReading ? .read : .write)
        case .operations: .store(.write)
        case .storeEvents: .store(.read)
        case .value: .value(isReading ? .read : .write)
        case .toggle: .value(.write)
        case .valueChanges: .value(.read)
        case .secret: .app(.secrets)
        }
    }

    /// True if requests for the resource are identified by the cookie with a credential.
    ///
    /// The page that renews an expired cookie must load, and its request for a new cookie must pass.
    var readsCookie: Bool {
        switch self {
        case .health, .readiness, .problems, .problem, .file, .resourceMetadata, .login: false
        case .metrics, .cluster, .openAPI, .caller, .tickets, .revocations, .revocation, .apps, .app, .types, .sessions,
            .session,
            .state, .events, .changes, .reset, .restore, .fork, .streams, .stream, .views, .view, .viewChanges, .store,
            .item, .operations, .storeEvents, .value, .toggle, .valueChanges, .secret:
            true
        }
    }
}

/// The resources of operators, which a proxy keeps from clients.
package enum OperatorResources {
    /// The paths of those that have no variable parts.
    package static var paths: [String] {
        Resource.allCases.filter { resource in
            !resource.path.contains("{")
                && resource.methods.list.contains { resource.requirement(for: $0) == .operation }
        }.map(\.path)
    }
}

/// A way to send a credential, as the OpenAPI document names it.
enum CredentialScheme: String, CaseIterable {
    /// The header `Authorization`.
    case bearer
    /// The cookie that `PUT /v1/login` sets.
    case cookie
    /// The parameter of a stream with a ticket of `POST /v1/tickets`.
    case ticket
}

extension Resource {
    /// The ways to send the credential that a method needs; none if it needs no credential.
    func credentialSchemes(for method: HTTPMethod) -> [CredentialScheme] {
        guard requirement(for: method) != .nothing else { return [] }
        return [.bearer] + (readsCookie ? [.cookie] : []) + (isStream ? [.ticket] : [])
    }
}
