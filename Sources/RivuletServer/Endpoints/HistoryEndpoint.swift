import RivuletAccess
import RivuletEngine
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// The ways to return to a state: replacing a session's state as a whole, and beginning another session with it.
struct HistoryEndpoint {
    let server: ServerLoop

    /// POST S/reset.
    func reset(
        _ key: SessionKey,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        var options = try DispatchOptions(request, permit, action: "reset")
        try server.charge(&options, request, permit, exchange)
        try dispatch(.reset, options, to: key, exchange)
    }

    /// POST S/restore.
    func restore(
        _ key: SessionKey,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        let query = try Query(request, known: ["version", "strict"])
        guard let version = try query.integer("version", in: 0...Int.max) else {
            throw Problem(.invalidQuery, "the version is missing; name it, as in restore?version=3")
        }
        var options = try DispatchOptions(request, permit, action: "restore version=\(version)", known: ["version"])
        try server.charge(&options, request, permit, exchange)
        try dispatch(.restored(version: UInt64(version)), options, to: key, exchange)
    }

    private func dispatch(
        _ event: EngineEvent,
        _ options: DispatchOptions,
        to key: SessionKey,
        _ exchange: Exchange
    ) throws(Problem) {
        let request = DispatchRequest(
            event,
            expected: options.expected,
            isStrict: options.isStrict,
            sender: options.sender
        )
        let app = try server.core.lookup.served(key.app)
        server.ask(key, of: app.host, for: exchange, Dispatch(request, options, to: app))
    }

    /// POST S/fork: begins another session with a state of this one.
    func fork(
        _ key: SessionKey,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        let app = try server.core.lookup.app(key.app)
        let query = try Query(request, known: ["version", "strict"])
        let version = try query.integer("version", in: 0...Int.max).map(UInt64.init)
        let isStrict = try query.flag("strict")
        try permit.checkFork(of: key, isPast: version != nil)
        let options = try CreateSessionRequest(body: request.body, contentType: request.headers["content-type"])
        guard options.state == nil else {
            throw Problem(
                .unexpectedState,
                "a fork begins with the other session's state; leave \"state\" out, or create a session"
            )
        }
        let target = try Route.sessionKey(app: app.name, id: options.id ?? RandomToken.sessionID())
        try permit.check(.create, on: target, in: server.context)
        let creator = server.creator(request, permit, exchange)
        let owner = permit.caller?.owner
        server.ask(key, of: app, for: exchange) { session, responder in
            session.document(at: version) { result in
                switch result {
                case .failure(let error): responder.send(Response(refusing: error))
                case .success(let document):
                    let creation = Creation(
                        state: JSONReader(document),
                        isStrict: isStrict,
                        owner: owner,
                        isPost: true,
                        creator: creator,
                        showsExisting: false
                    )
                    responder.server.ask(target, of: app, for: responder.exchange, creation)
                }
            }
        }
    }
}
