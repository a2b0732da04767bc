import RivuletHTTP
import RivuletJSON
import RivuletSessions

extension ServerContext {
    /// The methods of the resource on this server: a key path has PUT only if the app binds an event to it.
    func methods(of route: Route) -> MethodSet {
        let methods = route.resource.methods
        guard case .state(let key, let path) = route, let app = apps[key.app] else { return methods }
        return app.isBound(path) ? methods : methods.subtracting(.put)
    }

    /// The refusal of a method that the resource does not have.
    ///
    /// - Throws: 400 instead of 405 for a key path that the state cannot have; a read of it gets the same 400.
    func refusal(
        of method: HTTPMethod,
        _ route: Route,
        has methods: MethodSet
    ) throws(Problem) -> Problem {
        let allowed = methods.allow
        let fields = [HTTPField("Allow", allowed)]
        guard case .state(let key, let path) = route, method == .put, let app = apps[key.app] else {
            let detail = "\(method.name) is not a method of this resource; it has \(allowed)"
            return Problem(.methodNotAllowed, detail, fields: fields)
        }
        try app.check(path)
        let detail = "no binding is declared for the key path \"\(path)\", so it is changed by events only; "
        return Problem(.keyPathNotBound, detail + Self.bindings(of: app), fields: fields)
    }

    /// The key paths that can be written instead, up to a limit.
    private static func bindings(of app: any HostedApp) -> String {
        let namesMax = 10
        let paths = app.boundPaths
        guard !paths.isEmpty else { return "app \"\(app.name)\" declares no bindings" }
        let names = paths.prefix(namesMax).joined(separator: ", ")
        let more = "\(paths.count - namesMax) more, which GET /v1/apps/\(app.name) lists"
        return "app \"\(app.name)\" binds \(names)\(paths.count > namesMax ? " and \(more)" : "")"
    }
}

extension Route {
    /// True if the answer may be large, because it has contents of sessions, stores or files.
    func isRead(by method: HTTPMethod) -> Bool {
        guard method == .get || method == .head else { return false }
        return switch self {
        case .events, .state, .views, .sessions, .session, .store, .item, .value, .file: true
        default: false
        }
    }
}

extension HostedApp {
    /// - Throws: 400 for a key path that the state, or the view, cannot have.
    func check(_ path: JSONPointer, view: String? = nil, wildcards: Bool = false) throws(Problem) {
        guard accepts(path, view: view, wildcards: wildcards) else {
            if let view { throw Problem(.invalidKeyPath, "the view \"\(view)\" cannot have the key path \"\(path)\"") }
            throw Problem(
                .invalidKeyPath,
                "the state of app \"\(name)\" cannot have the key path \"\(path)\"; GET /v1/apps/\(name) shows its fields"
            )
        }
    }

    /// - Throws: 404 for a view that the app does not have.
    func check(view: String?) throws(Problem) {
        guard let view, !viewNames.contains(view) else { return }
        let known = viewNames.isEmpty ? "it has none" : "it has \(viewNames.joined(separator: ", "))"
        throw Problem(.viewNotFound, "app \"\(name)\" has no view \"\(view)\"; \(known)")
    }
}
