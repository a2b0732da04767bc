import RivuletEngine
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// The sessions of an app: listing, creating, describing and deleting them.
struct SessionEndpoint {
    let server: ServerLoop

    /// GET and POST of an app's sessions.
    func sessions(of name: String, _ request: HTTPRequest, _ connection: ClientConnection) throws(Problem) {
        let app = try server.core.lookup.app(name)
        if request.method == .post {
            try create(nil, of: app, request, connection)
        } else {
            try list(app, request, connection)
        }
    }

    /// GET, PUT and DELETE of a session.
    func session(_ key: SessionKey, _ request: HTTPRequest, _ connection: ClientConnection) throws(Problem) {
        let app = try server.core.lookup.app(key.app)
        switch request.method {
        case .put: try create(key.id, of: app, request, connection)
        case .delete: server.ask(key, of: app, for: server.exchange(connection), Deletion())
        default:
            server.ask(key, of: app, for: server.exchange(connection), .stored) { session, responder in
                responder.send(.json(session.info().json()))
            }
        }
    }

    /// POST makes an id unless the body names one; PUT has it in the path.
    ///
    /// Source: <Documentation/HTTP.md#resources>.
    private func create(
        _ id: String?,
        of app: any HostedApp,
        _ request: HTTPRequest,
        _ connection: ClientConnection
    ) throws(Problem) {
        let isStrict = try Query(request, known: ["strict"]).flag("strict")
        let wish = try SessionWish(body: request.body, contentType: request.headers["content-type"])
        if let id, let other = wish.id, other != id {
            throw Problem(.invalidSessionID, "the body's id \"\(other)\" is not the path's \"\(id)\"; leave it out")
        }
        let key = try Route.sessionKey(app: app.name, id: id ?? wish.id ?? RandomToken.sessionID())
        let creation = Creation(state: wish.state, isStrict: isStrict, isPost: id == nil)
        server.ask(key, of: app, for: server.exchange(connection), creation)
    }

    private func list(
        _ app: any HostedApp,
        _ request: HTTPRequest,
        _ connection: ClientConnection
    ) throws(Problem) {
        let query = try Query(request, known: ["after", "limit"])
        let limit = try query.integer("limit", in: 1...1_000) ?? 100
        let exchange = server.exchange(connection)
        let confined = Confined(server, to: server.core.loop)
        server.context.storage.directory.sessions(app: app.name, after: query["after"], limit: limit + 1) { result in
            confined.post { server in
                let responder = SessionResponder(server: server, exchange: exchange)
                responder.send(result.mapError(SessionError.storage)) { found in
                    let page = Array(found.prefix(limit))
                    return .json(page.json(of: app, next: found.count > limit ? page.last?.id : nil))
                }
            }
        }
    }
}

/// The creation of a session with a state, or with the defaults.
struct Creation: SessionAct {
    let scope = SessionScope.any
    let state: JSONReader?
    let isStrict: Bool
    /// Whether a session that exists is a conflict.
    let isPost: Bool

    func act(on session: Session, _ responder: SessionResponder) {
        session.create(state: state, isStrict: isStrict) { result in
            responder.send(result.flatMap(response)) { $0 }
        }
    }

    private func response(to answer: CreateAnswer) -> Result<Response, SessionError> {
        switch answer {
        case .existed(let info):
            return isPost ? .failure(.exists(info.key)) : .success(.json(info.json()))
        case .created(let info, let coerced):
            let location = HTTPField("Location", "/v1/apps/\(info.key.app)/sessions/\(info.key.id)")
            return .success(.json(info.json(coerced: coerced), status: .created, fields: [location]))
        }
    }
}

/// The deletion of a session, also of one that cannot be read: it is what the error of reading it advises.
private struct Deletion: SessionAct {
    let scope = SessionScope.any

    func act(on session: Session, _ responder: SessionResponder) {
        session.delete { result in responder.send(result) { Response(.noContent) } }
    }

    func act(on error: SessionError, of key: SessionKey, _ responder: SessionResponder) {
        switch error {
        case .storage(.corrupt), .unreadable:
            responder.server.shard.deleteUnreadable(key) { result in responder.send(result) { Response(.noContent) } }
        default: responder.send(Response(refusing: error))
        }
    }
}
