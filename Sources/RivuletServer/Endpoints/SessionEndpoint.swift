import RivuletAccess
import RivuletEngine
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// The sessions of an app: listing, creating, describing and deleting them.
struct SessionEndpoint {
    let server: ServerLoop

    /// GET and POST of an app's sessions.
    func sessions(
        of name: String,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        if request.method == .post {
            try create(nil, of: try server.core.lookup.app(name), request, permit, exchange)
        } else {
            try list(name, request, permit, exchange)
        }
    }

    /// GET, PUT and DELETE of a session.
    func session(
        _ key: SessionKey,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        let app = try server.core.lookup.app(key.app)
        switch request.method {
        case .put: try create(key.id, of: app, request, permit, exchange)
        case .delete: server.ask(key, of: app, for: exchange, Deletion())
        default:
            server.ask(key, of: app, for: exchange, .stored) { session, responder in
                responder.send(.json(session.info().json()))
            }
        }
    }

    /// Creates a session; POST makes an id unless the body names one, and PUT has the id in the path.
    ///
    /// Source: <Documentation/HTTP.md#resources>.
    private func create(
        _ id: String?,
        of app: any HostedApp,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        let isStrict = try Query(request, known: ["strict"]).flag("strict")
        let options = try CreateSessionRequest(body: request.body, contentType: request.headers["content-type"])
        if let id, let other = options.id, other != id {
            throw Problem(.invalidSessionID, "the body's id \"\(other)\" is not the path's \"\(id)\"; leave it out")
        }
        let key = try Route.sessionKey(app: app.name, id: id ?? options.id ?? RandomToken.sessionID())
        if id == nil { try permit.check(.create, on: key, in: server.context) }
        let creation = Creation(
            state: options.state,
            isStrict: isStrict,
            owner: permit.caller?.owner,
            isPost: id == nil,
            creator: server.creator(request, permit, exchange),
            showsExisting: permit.access.allows(.read)
        )
        server.ask(key, of: app, for: exchange, creation)
    }

    /// Lists the sessions that the caller may list, or those that it owns.
    private func list(
        _ name: String,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        let query = try Query(request, known: ["after", "limit", "owner"])
        let limit = try query.integer("limit", in: 1...1_000) ?? 100
        let scope = try permit.scope(ofList: query["owner"], of: name)
        let list = SessionList(app: try server.core.lookup.app(name), limit: limit, scope: scope)
        list.read(after: query["after"], Responder(server: server, exchange: exchange))
    }
}

/// The deletion of a session, also of an unreadable session: the error for such a session advises the deletion.
private struct Deletion: SessionAct {
    let scope = SessionScope.any

    func act(on session: Session, _ responder: Responder) {
        session.delete { result in responder.send(result) { Response(.noContent) } }
    }

    func act(on error: SessionError, of key: SessionKey, _ responder: Responder) {
        switch error {
        case .storage(.corrupt), .unreadable:
            responder.server.shard.deleteUnreadable(key) { result in responder.send(result) { Response(.noContent) } }
        default: responder.send(Response(refusing: error))
        }
    }
}
