import RivuletHTTP

extension ServerLoop: RequestPerformer {
    /// Has the endpoint of a route do what the request asks; the answer comes now or later.
    func perform(_ route: Route, _ request: HTTPRequest, on connection: ClientConnection) throws(Problem) {
        switch route {
        case .events(let key):
            let events = EventsEndpoint(server: self)
            if request.method == .post {
                try events.dispatch(key, request, connection)
            } else {
                try events.log(key, request, connection)
            }
        case .state(let key, let path): try StateEndpoint(server: self).state(key, path, request, connection)
        case .views(let key, let name): try StateEndpoint(server: self).view(name, of: key, request, connection)
        case .sessions(let app): try SessionEndpoint(server: self).sessions(of: app, request, connection)
        case .session(let key): try SessionEndpoint(server: self).session(key, request, connection)
        case .reset(let key): try HistoryEndpoint(server: self).reset(key, request, connection)
        case .restore(let key): try HistoryEndpoint(server: self).restore(key, request, connection)
        case .fork(let key): try HistoryEndpoint(server: self).fork(key, request, connection)
        case .changes(let key, let view): try StreamEndpoint(server: self).open(key, view: view, request, connection)
        case .sharedChanges(let key): try StreamEndpoint(server: self).open(key, request, connection)
        case .streams: try OpenStreamEndpoint(server: self).list(request, connection)
        case .stream(let name): try OpenStreamEndpoint(server: self).stream(name, request, connection)
        case .store(let key): try StoreEndpoint(server: self).store(key, request, connection)
        case .item(let key, let id): try StoreEndpoint(server: self).item(id, of: key, request, connection)
        case .operations(let key): try StoreEndpoint(server: self).performOperations(on: key, request, connection)
        case .value(let key): try ValueEndpoint(server: self).value(key, request, connection)
        case .toggle(let key): try ValueEndpoint(server: self).toggle(key, request, connection)
        case .secret(let app, let name): try SecretEndpoint(server: self).secret(name, of: app, request, connection)
        case .health: ServerEndpoint(server: self).health(connection)
        case .readiness: ServerEndpoint(server: self).readiness(connection)
        case .metrics: try MetricsEndpoint(server: self).metrics(connection)
        case .openAPI: ServerEndpoint(server: self).openAPI(request, connection)
        case .problems: ServerEndpoint(server: self).page(ProblemPages.list, request, connection)
        case .problem(let type): ServerEndpoint(server: self).page(ProblemPages.page(of: type), request, connection)
        case .apps: ServerEndpoint(server: self).apps(connection)
        case .app(let name): try ServerEndpoint(server: self).document(\.description, of: name, request, connection)
        case .types(let name): try ServerEndpoint(server: self).document(\.types, of: name, request, connection)
        case .file(let path): try ServerEndpoint(server: self).file(path, request, connection)
        }
    }

    func willAnswer() { streams.flushSingle() }

    /// The place to which the answer to a connection's request goes, when it is made later.
    func exchange(_ connection: ClientConnection) -> Exchange {
        Exchange(loop: core.index, connection: connection.id)
    }
}
