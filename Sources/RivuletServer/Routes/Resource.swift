import RivuletHTTP

/// A kind of resource; each `Route` is one resource of a kind.
///
/// The template of the OpenAPI document describes each of them. Source: <Documentation/HTTP.md#resources>.
enum Resource: CaseIterable, Sendable {
    case health, readiness, metrics, cluster, openAPI, problems, problem, file
    case caller, login, tickets, resourceMetadata
    case revocations, revocation
    case apps, app, types
    case sessions, session, state, events, changes
    case reset, restore, fork
    case streams, stream
    case views, view, viewChanges
    case store, item, operations, storeEvents
    case value, toggle, valueChanges, secret

    /// The path of the resources of this kind, with its variable parts in braces.
    var path: String {
        switch self {
        case .health: "/healthz"
        case .readiness: "/readyz"
        case .metrics: "/metrics"
        case .cluster: "/v1/cluster"
        case .openAPI: "/openapi.json"
        case .problems: "/problems"
        case .problem: "/problems/{problem}"
        case .file: "/{file}"
        case .caller: "/v1/me"
        case .login: "/v1/login"
        case .tickets: "/v1/tickets"
        case .resourceMetadata: "/.well-known/oauth-protected-resource"
        case .revocations: "/v1/revocations"
        case .revocation: "/v1/revocations/{revocation}"
        case .apps: "/v1/apps"
        case .app: "/v1/apps/{app}"
        case .types: "/v1/apps/{app}/types.d.ts"
        case .sessions: "/v1/apps/{app}/sessions"
        case .session: "/v1/apps/{app}/sessions/{session}"
        // A key path is appended, with one segment for each token.
        case .state: "/v1/apps/{app}/sessions/{session}/state"
        case .events: "/v1/apps/{app}/sessions/{session}/events"
        case .reset: "/v1/apps/{app}/sessions/{session}/reset"
        case .restore: "/v1/apps/{app}/sessions/{session}/restore"
        case .fork: "/v1/apps/{app}/sessions/{session}/fork"
        case .views: "/v1/apps/{app}/sessions/{session}/views"
        case .view: "/v1/apps/{app}/sessions/{session}/views/{view}"
        case .viewChanges: "/v1/apps/{app}/sessions/{session}/views/{view}/changes"
        case .streams: "/v1/streams"
        case .stream: "/v1/streams/{stream}"
        case .changes: "/v1/apps/{app}/sessions/{session}/changes"
        case .store: "/v1/apps/{app}/stores/{store}"
        case .item: "/v1/apps/{app}/stores/{store}/{item}"
        case .operations: "/v1/apps/{app}/stores/{store}/operations"
        case .storeEvents: "/v1/apps/{app}/stores/{store}/events"
        case .value: "/v1/apps/{app}/values/{value}"
        case .toggle: "/v1/apps/{app}/values/{value}/toggle"
        case .valueChanges: "/v1/apps/{app}/values/{value}/changes"
        case .secret: "/v1/apps/{app}/secrets/{secret}"
        }
    }

    /// The methods of the resource; streams of changes have GET without HEAD.
    var methods: MethodSet {
        switch self {
        case .health, .readiness, .metrics, .cluster, .openAPI, .problems, .problem, .file, .streams: .reading
        case .apps, .app, .types, .views, .view, .caller, .resourceMetadata: .reading
        case .stream: [.reading, .patch, .delete]
        case .login: [.put, .delete]
        case .state: [.reading, .put]
        case .changes, .viewChanges, .storeEvents, .valueChanges: .get
        case .sessions, .events, .revocations: [.reading, .post]
        case .revocation: [.reading, .delete]
        case .session, .item, .value, .secret: [.reading, .put, .delete]
        case .store: [.reading, .post, .delete]
        case .reset, .restore, .fork, .operations, .toggle, .tickets: .post
        }
    }

    /// True if a request with this method may have a body; the method is one of `methods`.
    func takesBody(_ method: HTTPMethod) -> Bool {
        switch (self, method) {
        case (.reset, _), (.restore, _), (.toggle, _), (.login, _): false
        case (_, .post), (_, .put), (_, .patch): true
        default: false
        }
    }

    /// True if a POST may have no body at all, so that a page of another site could send it without a preflight.
    var mayPostNothing: Bool {
        switch self {
        case .reset, .restore, .fork, .sessions, .toggle: true
        default: false
        }
    }

    /// True if it is a page that people open, also by a link on another site.
    var isPage: Bool { self == .file || self == .problem || self == .problems }

    /// True if it is an event stream, which a ticket can open.
    var isStream: Bool {
        switch self {
        case .changes, .viewChanges, .storeEvents, .valueChanges: true
        default: false
        }
    }

    /// True if the resource has idempotency records, so that a retry gets the first answer again.
    var keepsAnswers: Bool {
        switch self {
        case .events, .state, .reset, .restore: true
        default: false
        }
    }
}

/// The methods of a resource, as a set of bits, so that a request allocates no list of them.
struct MethodSet: OptionSet, Sendable {
    let rawValue: UInt8

    static let get = MethodSet(rawValue: 1)
    static let head = MethodSet(rawValue: 2)
    static let post = MethodSet(rawValue: 4)
    static let put = MethodSet(rawValue: 8)
    static let patch = MethodSet(rawValue: 16)
    static let delete = MethodSet(rawValue: 32)
    static let reading: MethodSet = [.get, .head]
    static let all: MethodSet = [.reading, .post, .put, .patch, .delete]

    /// Every method of a resource, in the order in which `Allow` names them.
    static let named: [(set: MethodSet, method: HTTPMethod)] = [
        (.get, .get), (.head, .head), (.post, .post), (.put, .put), (.patch, .patch), (.delete, .delete),
    ]

    /// True if the method is in the set.
    func has(_ method: HTTPMethod) -> Bool {
        switch method {
        case .get: contains(.get)
        case .head: contains(.head)
        case .post: contains(.post)
        case .put: contains(.put)
        case .patch: contains(.patch)
        case .delete: contains(.delete)
        case .options, .trace, .other: false
        }
    }

    /// The methods as a list.
    var list: [HTTPMethod] { Self.named.filter { contains($0.set) }.map(\.method) }

    /// The value of `Allow`; every resource also has OPTIONS.
    var allow: String { (list + [.options]).map(\.name).joined(separator: ", ") }
}
