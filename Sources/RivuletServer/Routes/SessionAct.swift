import RivuletEngine
import RivuletSessions

/// An endpoint's work on one session.
///
/// `ServerLoop.ask` finds the session and runs the act on the session's loop. The responder sends the answer.
protocol SessionAct: Sendable {
    /// The sessions on which it acts; other sessions are answered with 404.
    var scope: SessionScope { get }

    /// Acts on the session, on the session's loop; the answer comes now or later.
    func act(on session: Session, _ responder: Responder)

    /// Answers for a session that cannot be loaded.
    func act(on error: SessionError, of key: SessionKey, _ responder: Responder)
}

extension SessionAct {
    func act(on error: SessionError, of key: SessionKey, _ responder: Responder) {
        responder.send(Response(refusing: error))
    }
}

/// The sessions on which an act may act.
enum SessionScope: Sendable {
    /// Any session, also one that storage does not have.
    case any
    /// Existing sessions, and any session if the app's policy makes sessions on demand.
    case usable
    /// Sessions that storage has.
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
    let body: @Sendable (Session, Responder) -> Void

    func act(on session: Session, _ responder: Responder) { body(session, responder) }
}

extension ServerLoop {
    /// Finds the session that a request names, and performs the act there.
    func ask<Act: SessionAct>(_ key: SessionKey, of app: any HostedApp, for exchange: Exchange, _ act: Act) {
        let owner = context.shard(of: key)
        if owner == core.index {
            // Nearly every request takes this path, which avoids the closures of a load.
            let responder = Responder(server: self, exchange: exchange)
            if shard.use(key, { responder.perform(act, on: $0, of: app) }) { return }
        }
        onLoop(owner, for: exchange) { server in
            let responder = Responder(server: server, exchange: exchange)
            server.shard.find(key, of: app) { found in
                switch found {
                case .success(let session): responder.perform(act, on: session, of: app)
                case .failure(let error): act.act(on: error, of: key, responder)
                }
            }
        }
    }

    /// The same with a closure as the act.
    func ask(
        _ key: SessionKey,
        of app: any HostedApp,
        for exchange: Exchange,
        _ scope: SessionScope = .any,
        _ act: @escaping @Sendable (_ session: Session, _ responder: Responder) -> Void
    ) {
        ask(key, of: app, for: exchange, ClosureAct(scope: scope, body: act))
    }
}

extension Responder {
    fileprivate func perform(_ act: some SessionAct, on session: Session, of app: any HostedApp) {
        guard act.scope.contains(session, of: app) else {
            return send(Response(refusing: .notFound(session.key)))
        }
        act.act(on: session, self)
    }
}
