import RivuletEventLoop
import RivuletHTTP
import RivuletSessions

extension ServerLoop {
    /// Counts a request in a class, such as `tickets`.
    ///
    /// - Throws: 429 if the caller has used its quota.
    func charge(
        _ name: LimitClass,
        _ cost: @autoclosure () -> Int = 1,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        guard let limiter = core.limiter, let connection = connections[exchange.connection] else { return }
        let key = limiter.key(of: permit.identity, at: context.doors.clientAddress(of: request, on: connection))
        try limiter.charge(name, cost(), of: key, on: connection)
    }

    /// Counts the events of a dispatch; a session that it creates counts too.
    ///
    /// - Throws: 429 if the caller has used its quota.
    func charge(
        _ options: inout DispatchOptions,
        events count: @autoclosure () -> Int = 1,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        guard core.limiter != nil || peers != nil else { return }
        try charge(.dispatches, count(), request, permit, exchange)
        options.creator = creator(request, permit, exchange)
    }

    /// The caller to which a session counts that a request creates; nil without limits.
    func creator(_ request: HTTPRequest, _ permit: Permit, _ exchange: Exchange) -> LimitKey? {
        if let facts = peers?.facts(of: exchange.connection) { return .ofPeer(mayCreate: facts.mayCreate) }
        guard let limiter = core.limiter, let connection = connections[exchange.connection] else { return nil }
        return limiter.key(of: permit.identity, at: context.doors.clientAddress(of: request, on: connection))
    }

    /// Takes a place for the stream that a request opens; false if its caller or its address has as many as it may.
    func takeSeat(_ permit: Permit, _ request: HTTPRequest, _ exchange: Exchange) -> Bool {
        guard let limiter = core.limiter, let connection = connections[exchange.connection] else { return true }
        let address = context.doors.clientAddress(of: request, on: connection)
        switch limiter.seat(of: permit.identity, at: address) {
        case .taken(nil): return true
        case .taken(let seat):
            connection.amendRequest { $0.seat = seat }
            return true
        case .refused: return false
        }
    }
}

/// The charge for a session that a request may create, on the loop of the session.
///
/// The node that took a forwarded request charges its own limits, if the answer says that a session was created.
final class CreationCharge {
    private enum Place {
        case here(LoopLimiter, LimitKey)
        case peer(Responder)
    }

    private let place: Place

    fileprivate init(_ limiter: LoopLimiter, _ key: LimitKey) { place = .here(limiter, key) }

    fileprivate init(atPeerOf responder: Responder) {
        place = .peer(responder)
        responder.amendPeerAnswer { $0.insert(.created) }
    }

    /// Takes back the charge, because the session was not created.
    func giveBack() {
        switch place {
        case .here(let limiter, let key): limiter.giveBack(.sessionsCreated, of: key)
        case .peer(let responder): responder.amendPeerAnswer { $0.remove(.created) }
        }
    }
}

extension Responder {
    /// Counts a session that does not exist yet as created by a caller.
    ///
    /// - Returns: The charge; nil if the session exists, or without limits.
    /// - Throws: 429 if the caller has used its quota.
    func charge(_ session: Session, to creator: LimitKey?) throws(Problem) -> CreationCharge? {
        guard let creator, !session.isBegun else { return nil }
        if let mayCreate = creator.peerAllows {
            guard mayCreate else {
                amendPeerAnswer { $0.insert(.creationRefused) }
                // The other node answers with the refusal of its own limits.
                throw Problem(.quotaExceeded, "the caller has created as many sessions as it may")
            }
            return CreationCharge(atPeerOf: self)
        }
        guard let limiter = server.core.limiter else { return nil }
        try limiter.take(.sessionsCreated, of: creator)
        return CreationCharge(limiter, creator)
    }

    /// Records a fact about the answer to a request of another node, before the answer.
    fileprivate func amendPeerAnswer(_ change: @escaping @Sendable (inout ForwardedAnswer.Flags) -> Void) {
        server.core.tell(exchange.loop) { [exchange] in $0.peers?.amend(exchange.connection, change) }
    }
}
