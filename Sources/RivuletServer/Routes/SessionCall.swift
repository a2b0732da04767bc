import RivuletEngine
import RivuletSessions

/// The act of an endpoint on one session: `ServerLoop.ask` finds the session, the act does its work there, and the responder responds.
protocol SessionAct: Sendable {
    /// Which sessions it acts on; others are answered with 404.
    var scope: SessionScope { get }

    /// Acts on the session, on the session's loop; the answer comes now or later.
    func act(on session: Session, _ responder: SessionResponder)

    /// Answers for a session that cannot be loaded.
    func act(on error: SessionError, of key: SessionKey, _ responder: SessionResponder)
}

extension SessionAct {
    func act(on error: SessionError, of key: SessionKey, _ responder: SessionResponder) {
        responder.send(Response(refusing: error))
    }
}

/// The sessions that an act is for.
enum SessionScope: Sendable {
    /// Any, also one that storage does not know.
    case any
    /// Those that exist, and any where the app's policy makes sessions on demand.
    case usable
    /// Those that storage knows.
    case stored

    func contains(_ session: Session, of app: any HostedApp) -> Bool {
        switch self {
        case .any: true
        case .usable: session.isStored || app.sessionPolicy == .onDemand
        case .stored: session.isStored
        }
    }
}

/// An act that is a closure.
struct ClosureAct: SessionAct {
    let scope: SessionScope
    let body: @Sendable (Session, SessionResponder) -> Void

    func act(on session: Session, _ responder: SessionResponder) { body(session, responder) }
}

/// Sends the answer of an act from the loop of its session to the connection of its request.
struct SessionResponder {
    /// The loop of the session.
    let server: ServerLoop
    let exchange: Exchange

    func send(_ response: Response) { server.send(response, to: exchange) }

    /// Sends the response that a result becomes.
    func send<Value>(_ result: Result<Value, SessionError>, _ response: (Value) -> Response) {
        switch result {
        case .success(let value): send(response(value))
        case .failure(let error): send(Response(refusing: error))
        }
    }
}

extension ServerLoop {
    /// Finds the session that a request names, and has the act do its work there.
    func ask<Act: SessionAct>(_ key: SessionKey, of app: any HostedApp, for exchange: Exchange, _ act: Act) {
        let owner = context.shard(of: key)
        if owner == core.index {
            // Nearly every request's way, without the closures of a load.
            let responder = SessionResponder(server: self, exchange: exchange)
            if shard.use(key, { responder.perform(act, on: $0, of: app) }) { return }
        }
        let isPosted = core.onLoop(owner) { server in
            let responder = SessionResponder(server: server, exchange: exchange)
            server.shard.find(key, of: app) { found in
                switch found {
                case .success(let session): responder.perform(act, on: session, of: app)
                case .failure(let error): act.act(on: error, of: key, responder)
                }
            }
        }
        if !isPosted { send(Response(refusing: .overloaded("mailbox of the session's loop")), to: exchange) }
    }

    /// The same with a closure as the act.
    func ask(
        _ key: SessionKey,
        of app: any HostedApp,
        for exchange: Exchange,
        _ scope: SessionScope = .any,
        _ act: @escaping @Sendable (_ session: Session, _ responder: SessionResponder) -> Void
    ) {
        ask(key, of: app, for: exchange, ClosureAct(scope: scope, body: act))
    }

    /// Sends the answer to the request under way, from the loop that it was made on.
    func send(_ response: Response, to exchange: Exchange) {
        guard exchange.loop == core.index else { return core.post(response, to: exchange) }
        if let connection = connections[exchange.connection] { connections.answer(connection, response) }
    }
}

extension SessionResponder {
    fileprivate func perform(_ act: some SessionAct, on session: Session, of app: any HostedApp) {
        guard act.scope.contains(session, of: app) else {
            return send(Response(refusing: .notFound(session.key)))
        }
        act.act(on: session, self)
    }
}
