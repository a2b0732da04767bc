// Owns what each resource does with a request.

import Logging
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletSessions
import Synchronization

extension ServerLoop {
    /// Does what the request asks; the answer comes now or later, by `answer`.
    func perform(_ route: Route, _ request: HTTPRequest, on connection: ClientConnection) throws(Problem) {
        let exchange = Exchange(loop: core.index, connection: connection.id)
        switch route {
        case .health: answer(exchange.connection, .json(Array(#"{"status":"ok"}"#.utf8)))
        case .readiness: answerReadiness(exchange)
        case .metrics: try answerMetrics(exchange)
        case .openAPI: answer(exchange.connection, FileAnswer(context.openAPI, request).wholeResponse)
        case .problems: answer(exchange.connection, problemPage(ProblemPages.list, request))
        case .problem(let type): answer(exchange.connection, problemPage(ProblemPages.page(of: type), request))
        case .apps: answer(exchange.connection, .json(appsDocument()))
        case .app(let name): answer(exchange.connection, try document(of: app(name), \.description, request))
        case .types(let name): answer(exchange.connection, try document(of: app(name), \.types, request))
        case .file(let path): answer(exchange.connection, try file(path, request))
        case .sessions(let name):
            let app = try app(name)
            if request.method == .post {
                try createSession(app, id: nil, request, exchange)
            } else {
                try listSessions(app, request, exchange)
            }
        case .session(let key): try session(key, request, exchange)
        case .state(let key, let path):
            if request.method == .put {
                try writeState(key, path, request, exchange)
            } else {
                try readState(key, path, request, exchange)
            }
        case .events(let key):
            if request.method == .post {
                try dispatchEvents(key, request, exchange)
            } else {
                try readLog(key, request, exchange)
            }
        case .reset(let key): try reset(key, request, exchange)
        case .restore(let key): try restore(key, request, exchange)
        case .fork(let key): try fork(key, request, exchange)
        case .views(let key, let name): try readView(key, name, request, exchange)
        case .streams: try listStreams(request, exchange)
        case .stream(let name): try stream(name, request, exchange)
        case .changes(let key, let view): try openStream(key, view, request, on: connection)
        case .store(let key): try store(key, request, exchange)
        case .item(let key, let id): try item(id, of: key, request, exchange)
        case .operations(let key): try performOperations(on: key, request, exchange)
        case .value(let key): try value(key, request, exchange)
        case .toggle(let key): try toggle(key, request, exchange)
        case .secret(let app, let name): try secret(name, of: app, request, exchange)
        case .sharedChanges(let key): try openSharedStream(key, request, on: connection)
        }
    }

    // MARK: - Server

    private func answerReadiness(_ exchange: Exchange) {
        guard !core.isDraining else { return send(refusal(.draining), to: exchange) }
        let confined = Confined(self, to: loop)
        context.storage.lifecycle.probe { result in
            confined.post { loop in
                switch result {
                case .success: loop.send(.json(Array(#"{"status":"ready"}"#.utf8)), to: exchange)
                case .failure(let error):
                    var problem = Problem(error)
                    problem.type = .notReady
                    loop.send(Response(problem, cause: error), to: exchange)
                }
            }
        }
    }

    private func appsDocument() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("apps")
        writer.beginArray()
        for name in context.apps.keys.sorted() {
            writer.beginObject()
            writer.key("name")
            writer.string(name)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    private func document(
        of app: any HostedApp,
        _ part: KeyPath<AppDocuments, StaticFile>,
        _ request: HTTPRequest
    ) throws(Problem) -> Response {
        guard let documents = context.documents[app.name] else { throw Problem(.notFound, "there is no such document") }
        return FileAnswer(documents[keyPath: part], request).wholeResponse
    }

    /// The page of a type of problem, or their list.
    private func problemPage(_ page: StaticFile, _ request: HTTPRequest) -> Response {
        FileAnswer(page, request, pageFields: context.pageFields).wholeResponse
    }

    private func file(_ path: String, _ request: HTTPRequest) throws(Problem) -> Response {
        guard let file = context.files[path] else {
            core.counters.requestRefused(.route)
            throw Problem(
                404,
                context.files.hasFolder
                    ? "there is no such file"
                    : "There is no such file, and this server has no public folder: --public names one."
            )
        }
        return try FileAnswer(file, request, pageFields: context.pageFields).response()
    }

    // MARK: - Sessions

    private func session(_ key: SessionKey, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let app = try app(key.app)
        switch request.method {
        case .put: try createSession(app, id: key.id, request, exchange)
        case .delete:
            delete(key, of: app, exchange)
        default:
            withSession(key, of: app, exchange) { session, owner in
                guard session.isStored else {
                    return owner.send(owner.refusal(.notFound(key)), to: exchange)
                }
                owner.send(.json(session.info().json()), to: exchange)
            }
        }
    }

    /// Also deletes a session that cannot be read: it is what the error of reading it advises.
    private func delete(_ key: SessionKey, of app: any HostedApp, _ exchange: Exchange) {
        onShard(of: key) { owner in
            owner.shard.find(key, of: app) { found in
                switch found {
                case .success(let session):
                    session.delete { result in owner.send(result, to: exchange) { Response(.noContent) } }
                case .failure(.storage(.corrupt)), .failure(.unreadable):
                    owner.shard.deleteUnreadable(key) { result in
                        owner.send(result, to: exchange) { Response(.noContent) }
                    }
                case .failure(let error):
                    owner.send(owner.refusal(error), to: exchange)
                }
            }
        }
    }

    /// POST makes an id unless the body names one; PUT has it in the path.
    ///
    /// Source: <Documentation/HTTP.md#resources>.
    private func createSession(
        _ app: any HostedApp,
        id: String?,
        _ request: HTTPRequest,
        _ exchange: Exchange
    ) throws(Problem) {
        let isStrict = try Query(request, known: ["strict"]).flag("strict")
        let wish = try SessionWish(body: request.body, contentType: request.headers["content-type"])
        if let id, let other = wish.id, other != id {
            throw Problem(.invalidSessionID, "the body's id \"\(other)\" is not the path's \"\(id)\"; leave it out")
        }
        let key = try Route.sessionKey(app: app.name, id: id ?? wish.id ?? RandomToken.sessionID())
        let isPost = id == nil
        onShard(of: key) { owner in
            owner.shard.find(key, of: app) { found in
                owner.withFound(found, exchange) { session in
                    session.create(state: wish.state, isStrict: isStrict) { result in
                        owner.send(result.flatMap { Self.creation($0, isPost: isPost) }, to: exchange) { $0 }
                    }
                }
            }
        }
    }

    static func creation(_ answer: CreateAnswer, isPost: Bool) -> Result<Response, SessionError> {
        switch answer {
        case .existed(let info):
            return isPost ? .failure(.exists(info.key)) : .success(.json(info.json()))
        case .created(let info, let coerced):
            let location = HTTPField("Location", "/v1/apps/\(info.key.app)/sessions/\(info.key.id)")
            return .success(.json(info.json(coerced: coerced), status: .created, fields: [location]))
        }
    }

    private func listSessions(_ app: any HostedApp, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let query = try Query(request, known: ["after", "limit"])
        let limit = try query.integer("limit", in: 1...1_000) ?? 100
        let confined = Confined(self, to: loop)
        context.storage.directory.sessions(app: app.name, after: query["after"], limit: limit + 1) { result in
            confined.post { loop in
                loop.send(result.mapError(SessionError.storage), to: exchange) { found in
                    let page = Array(found.prefix(limit))
                    return .json(page.json(of: app, next: found.count > limit ? page.last?.id : nil))
                }
            }
        }
    }

    private func readState(
        _ key: SessionKey,
        _ path: JSONPointer,
        _ request: HTTPRequest,
        _ exchange: Exchange
    ) throws(Problem) {
        let app = try app(key.app)
        let version = try Query(request, known: ["version"]).integer("version", in: 0...Int.max)
        try app.check(path)
        if let version { return readPast(key, path, at: UInt64(version), of: app, request, exchange) }
        let condition = request.tags("if-none-match")
        withExistingSession(key, of: app, exchange) { session, owner in
            owner.send(session.read(path), to: exchange) { .reading($0, unless: condition) }
        }
    }

    // MARK: - Finding sessions

    /// Finds the session, stored or not, and runs the body on its shard's loop.
    func withSession(
        _ key: SessionKey,
        of app: any HostedApp,
        _ exchange: Exchange,
        _ body: @escaping @Sendable (_ session: Session, _ owner: ServerLoop) -> Void
    ) {
        let owner = context.shard(of: key)
        if owner == index, shard.use(key, { session in body(session, self) }) { return }
        onLoop(owner) { owner in
            owner.shard.find(key, of: app) { found in
                owner.withFound(found, exchange) { session in body(session, owner) }
            }
        }
    }

    /// As `withSession`, where the app's policy says that the session has to exist.
    func withExistingSession(
        _ key: SessionKey,
        of app: any HostedApp,
        _ exchange: Exchange,
        _ body: @escaping @Sendable (_ session: Session, _ owner: ServerLoop) -> Void
    ) {
        withSession(key, of: app, exchange) { session, owner in
            guard session.isStored || app.sessionPolicy == .onDemand else {
                return owner.send(owner.refusal(.notFound(key)), to: exchange)
            }
            body(session, owner)
        }
    }

    func withFound(
        _ found: Result<Session, SessionError>,
        _ exchange: Exchange,
        _ body: (Session) -> Void
    ) {
        switch found {
        case .failure(let error): send(refusal(error), to: exchange)
        case .success(let session): body(session)
        }
    }

    /// Sends what the result becomes.
    ///
    /// `body` is what was dispatched.
    func send<Value>(
        _ result: Result<Value, SessionError>,
        of body: [UInt8] = [],
        to exchange: Exchange,
        _ response: (Value) -> Response
    ) {
        switch result {
        case .success(let value): send(response(value), to: exchange)
        case .failure(let error): send(Response(refusing: error, of: body), to: exchange)
        }
    }
}

extension ServerLoop {
    var index: Int { core.index }
    var loop: EventLoop { core.loop }
    func app(_ name: String) throws(Problem) -> any HostedApp { try core.app(name) }
    func onLoop(_ target: Int, _ job: @escaping @Sendable (ServerLoop) -> Void) { core.onLoop(target, job) }
    func onShard(of key: SessionKey, _ job: @escaping @Sendable (ServerLoop) -> Void) { core.onShard(of: key, job) }
    func refusal(_ error: SessionError) -> Response { Response(refusing: error) }

    /// Sends the answer to the request under way, from whatever loop it was made on.
    func send(_ response: Response, to exchange: Exchange) {
        guard exchange.loop != core.index else { return answer(exchange.connection, response) }
        core.peers[exchange.loop].post { $0.answer(exchange.connection, response) }
    }

    func answer(_ id: ConnectionID, _ response: Response) {
        if let connection = connections[id] { connections.answer(connection, response) }
    }
}
