import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// One resource, as the path of a request names it.
///
/// Source: <Documentation/HTTP.md#resources>.
enum Route: Hashable, Sendable {
    case health
    case readiness
    case metrics
    /// The nodes and partitions of the server's cluster.
    case cluster
    /// The description of all resources.
    case openAPI
    /// The caller itself: its name and its grants.
    case caller
    /// The cookie with the credential of a page.
    case login
    /// The tickets that open streams.
    case tickets
    /// The description of the server for clients that get tokens.
    case resourceMetadata
    /// All revocations of credentials, and one of them.
    case revocations
    case revocation(id: String)
    case apps
    case app(String)
    /// The app's TypeScript types.
    case types(app: String)
    case sessions(app: String)
    case session(SessionKey)
    case state(SessionKey, JSONPointer)
    case events(SessionKey)
    /// One view object by its name, or all.
    case views(SessionKey, name: String?)
    /// All open streams, and one of them.
    case streams
    case stream(StreamName)
    /// The change stream of the state, or of a view.
    case changes(SessionKey, view: String?)
    /// Ways to replace the state as a whole, or to begin another session with it.
    case reset(SessionKey)
    case restore(SessionKey)
    case fork(SessionKey)
    /// The stores, values and secrets, which all sessions of an app share.
    case store(SharedName)
    case item(SharedName, id: String)
    case operations(SharedName)
    case value(SharedName)
    case toggle(SharedName)
    case secret(app: String, name: String)
    /// The stream of a store or a value.
    case sharedChanges(SharedName)
    /// The list of all types of problems, and the page of one of them.
    case problems
    case problem(ProblemType)
    /// A file of the public folder, by its path below it.
    case file(String)

    /// The kind of resource, with its methods and rules.
    var resource: Resource {
        switch self {
        case .health: .health
        case .readiness: .readiness
        case .metrics: .metrics
        case .cluster: .cluster
        case .openAPI: .openAPI
        case .caller: .caller
        case .login: .login
        case .tickets: .tickets
        case .resourceMetadata: .resourceMetadata
        case .revocations: .revocations
        case .revocation: .revocation
        case .apps: .apps
        case .app: .app
        case .types: .types
        case .sessions: .sessions
        case .session: .session
        case .state: .state
        case .events: .events
        case .views(_, nil): .views
        case .views: .view
        case .streams: .streams
        case .stream: .stream
        case .changes(_, nil): .changes
        case .changes: .viewChanges
        case .reset: .reset
        case .restore: .restore
        case .fork: .fork
        case .store: .store
        case .item: .item
        case .operations: .operations
        case .value: .value
        case .toggle: .toggle
        case .secret: .secret
        case .sharedChanges(let shared): shared.kind == .store ? .storeEvents : .valueChanges
        case .problems: .problems
        case .problem: .problem
        case .file: .file
        }
    }

    /// The name of the app to which the resource belongs; nil if it belongs to none.
    var app: String? {
        switch self {
        case .health, .readiness, .metrics, .cluster, .openAPI, .problems, .problem, .apps, .streams, .stream, .file,
            .caller, .login, .tickets, .resourceMetadata, .revocations, .revocation:
            nil
        case .app(let name), .types(let name), .sessions(let name), .secret(let name, _): name
        case .session(let key), .state(let key, _), .events(let key), .views(let key, _), .changes(let key, _): key.app
        case .reset(let key), .restore(let key), .fork(let key): key.app
        case .store(let shared), .item(let shared, _), .operations(let shared), .value(let shared): shared.app
        case .toggle(let shared), .sharedChanges(let shared): shared.app
        }
    }

    /// Finds the resource of a path's decoded segments.
    ///
    /// - Throws: 404 for a path below `/v1` that names no resource, 400 for a session id or a key path that is not
    ///   valid.
    init(segments: [String]) throws(Problem) {
        switch segments.first {
        // The most frequent case comes first: nearly every path begins so.
        case "v1": self = try Self.resource(segments.dropFirst())
        case "healthz" where segments.count == 1: self = .health
        case "readyz" where segments.count == 1: self = .readiness
        case "metrics" where segments.count == 1: self = .metrics
        case "openapi.json" where segments.count == 1: self = .openAPI
        case ".well-known" where segments == [".well-known", "oauth-protected-resource"]: self = .resourceMetadata
        default: self = if let page = Self.problems(segments) { page } else { .file(try Self.filePath(segments)) }
        }
    }

    /// The pages of problems; any other path below `/problems` is a file.
    private static func problems(_ segments: [String]) -> Route? {
        guard segments.first == "problems" else { return nil }
        switch segments.count {
        case 1: return .problems
        case 2 where segments[1].isEmpty: return .problems
        case 2: return ProblemType(rawValue: segments[1]).map(Route.problem)
        default: return nil
        }
    }

    /// The route of a session's events, without splitting the path; nil if `init(segments:)` must read the path.
    ///
    /// Nearly every request is for events. A path with escapes and the session `me` are left to `init(segments:)`.
    /// The request is borrowed, because otherwise an initializer gets a copy.
    init?(eventsOf request: borrowing HTTPRequest) {
        guard let (app, id) = request.segments(of: Self.eventsPath), Self.isAppName(app), Self.isID(id),
            id != "me"
        else { return nil }
        self = .events(SessionKey(app: app, id: id))
    }

    private static let eventsPath = PathPattern("/v1/apps/", "/sessions/", "/events")

    private static func resource(_ segments: ArraySlice<String>) throws(Problem) -> Route {
        var rest = segments
        if segments.first == "me", segments.count == 1 { return .caller }
        if segments.first == "login", segments.count == 1 { return .login }
        if segments.first == "tickets", segments.count == 1 { return .tickets }
        if segments.first == "cluster", segments.count == 1 { return .cluster }
        if segments.first == "streams" { return try streams(segments.dropFirst()) }
        if segments.first == "revocations", segments.count <= 2 {
            return segments.count == 1 ? .revocations : .revocation(id: segments[segments.startIndex + 1])
        }
        guard rest.popFirst() == "apps" else { throw unknown(segments) }
        guard let app = rest.popFirst() else { return .apps }
        guard isAppName(app) else { throw Problem(.appNotFound, "there is no app \"\(app)\"; GET /v1/apps lists them") }
        guard let kind = rest.popFirst() else { return .app(app) }
        if kind == "types.d.ts", rest.isEmpty { return .types(app: app) }
        guard kind == "sessions" else {
            guard let route = shared(app, kind, Array(rest)) else { throw unknown(segments) }
            return route
        }
        guard let id = rest.popFirst() else { return .sessions(app: app) }
        let key = try sessionKey(app: app, id: id)
        guard let part = rest.popFirst() else { return .session(key) }
        switch part {
        case "state": return .state(key, try pointer(rest))
        case "events" where rest.isEmpty: return .events(key)
        case "changes" where rest.isEmpty: return .changes(key, view: nil)
        case "views":
            guard let views = views(key, rest) else { throw unknown(segments) }
            return views
        case "reset" where rest.isEmpty: return .reset(key)
        case "restore" where rest.isEmpty: return .restore(key)
        case "fork" where rest.isEmpty: return .fork(key)
        default: throw unknown(segments)
        }
    }

    private static func streams(_ segments: ArraySlice<String>) throws(Problem) -> Route {
        guard let text = segments.first else { return .streams }
        guard segments.count == 1, let name = StreamName(text) else {
            throw Problem(
                .streamNotFound,
                "there is no stream \"\(segments.joined(separator: "/"))\"; GET /v1/streams lists them"
            )
        }
        return .stream(name)
    }

    /// The route of a store, a value or a secret; an item id is any text except `events` and `operations`.
    private static func shared(_ app: String, _ kind: String, _ segments: [String]) -> Route? {
        switch (kind, segments.count) {
        case ("stores", 1): .store(SharedName(app, .store, segments[0]))
        case ("stores", 2) where segments[1] == "events": .sharedChanges(SharedName(app, .store, segments[0]))
        case ("stores", 2) where segments[1] == "operations": .operations(SharedName(app, .store, segments[0]))
        case ("stores", 2) where !segments[1].isEmpty: .item(SharedName(app, .store, segments[0]), id: segments[1])
        case ("values", 1): .value(SharedName(app, .value, segments[0]))
        case ("values", 2) where segments[1] == "toggle": .toggle(SharedName(app, .value, segments[0]))
        case ("values", 2) where segments[1] == "changes": .sharedChanges(SharedName(app, .value, segments[0]))
        case ("secrets", 1): .secret(app: app, name: segments[0])
        default: nil
        }
    }

    /// The route of all views, of one view, or of the stream of one view.
    private static func views(_ key: SessionKey, _ segments: ArraySlice<String>) -> Route? {
        switch segments.count {
        case 0: .views(key, name: nil)
        case 1: .views(key, name: segments.first)
        case 2 where segments.last == "changes": .changes(key, view: segments.first)
        default: nil
        }
    }

    /// Checks a session's id and joins it with its app.
    ///
    /// Source: <Documentation/HTTP.md#words>.
    static func sessionKey(app: String, id: String) throws(Problem) -> SessionKey {
        guard isID(id) else {
            throw Problem(
                .invalidSessionID,
                "a session id is 1 to 128 letters, digits, \"_\" or \"-\"; found \"\(id)\""
            )
        }
        guard id != "me" else {
            throw Problem(
                .invalidSessionID,
                "the session id \"me\" stands for the caller's own session; choose another"
            )
        }
        return SessionKey(app: app, id: id)
    }

    /// True if the text is `[A-Za-z0-9_-]{1,128}`.
    private static func isID(_ id: String) -> Bool {
        let bytes = id.utf8.span
        guard (1...128).contains(bytes.count) else { return false }
        for index in bytes.indices where !isIDByte(bytes[index]) { return false }
        return true
    }

    private static func isIDByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }

    /// True if the text is `[a-z][a-z0-9-]{0,63}`.
    static func isAppName(_ name: String) -> Bool {
        let bytes = name.utf8.span
        guard (1...64).contains(bytes.count), (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(bytes[0]) else {
            return false
        }
        for index in bytes.indices {
            let byte = bytes[index]
            guard isIDByte(byte), byte != UInt8(ascii: "_"), !(0x41...0x5A).contains(byte) else { return false }
        }
        return true
    }

    /// The key path: each segment is one token, with the escapes of a JSON Pointer.
    private static func pointer(_ segments: ArraySlice<String>) throws(Problem) -> JSONPointer {
        let text = segments.map { "/" + $0.replacing("/", with: "~1") }.joined()
        do throws(JSONError) {
            return try JSONPointer(parsing: text)
        } catch {
            throw Problem(.invalidKeyPath, "bad key path: \(error)")
        }
    }

    /// The path of a file below the public folder.
    ///
    /// A path that could lead out of the folder is 404.
    private static func filePath(_ segments: [String]) throws(Problem) -> String {
        let isSafe = segments.allSatisfy { segment in
            !segment.hasPrefix(".")
                && !segment.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        }
        guard isSafe else { throw Problem(.notFound, "there is no such file") }
        let path = segments.joined(separator: "/")
        return path.isEmpty || path.hasSuffix("/") ? path + "index.html" : path
    }

    private static func unknown(_ segments: ArraySlice<String>) -> Problem {
        Problem(.notFound, "there is no resource \"/\((["v1"] + segments).joined(separator: "/"))\"")
    }
}

/// The name of a store or a value of an app.
struct SharedName: Hashable, Sendable {
    /// The kind of the resource.
    enum Kind: Hashable, Sendable {
        case store, value
    }

    let app: String
    let kind: Kind
    let name: String

    init(_ app: String, _ kind: Kind, _ name: String) {
        self.app = app
        self.kind = kind
        self.name = name
    }
}
