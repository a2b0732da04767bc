import RivuletHTTP
import RivuletSessions

/// The charges of a forwarded request to the limits of the node that took it.
///
/// Limits are those of each node, so the node that performs a request charges nothing. A session that the request may
/// create is charged before, and the charge is taken back if the answer says that none was created.
struct ForwardCharges {
    /// The caller to which a created session counts; nil without limits, and for requests that create none.
    private let creator: LimitKey?
    private let limiter: LoopLimiter?
    /// The refusal of the limits if the request would create a session; nil if it may.
    private(set) var creationRefusal: Problem?

    /// Charges a request as its endpoint would.
    ///
    /// - Throws: 429 if the caller has used its quota, and the refusal of options that the endpoint would not take.
    init(
        _ admitted: AdmittedRequest,
        _ request: HTTPRequest,
        _ exchange: Exchange,
        _ server: ServerLoop
    ) throws(Problem) {
        guard let limiter = server.core.limiter else {
            (creator, self.limiter) = (nil, nil)
            return
        }
        self.limiter = limiter
        let mayCreate = try Self.chargeEvents(admitted, request, exchange, server)
        creator = mayCreate ? server.creator(request, admitted.permit, exchange) : nil
        guard let creator else { return }
        do throws(Problem) {
            try limiter.take(.sessionsCreated, of: creator)
        } catch {
            creationRefusal = error
        }
    }

    /// Takes back the charge for a session, because none was created.
    func giveBackCreation() {
        guard let creator, creationRefusal == nil else { return }
        limiter?.giveBack(.sessionsCreated, of: creator)
    }

    /// Charges the events of a dispatch; returns true if the request may create a session.
    private static func chargeEvents(
        _ admitted: AdmittedRequest,
        _ request: HTTPRequest,
        _ exchange: Exchange,
        _ server: ServerLoop
    ) throws(Problem) -> Bool {
        let count: Int
        switch (admitted.route, request.method) {
        case (.events(let key), .post):
            _ = try server.core.lookup.app(key.app)
            count = try eventCount(request, admitted.permit, server)
        case (.state(let key, _), .put):
            _ = try server.core.lookup.app(key.app)
            count = 1
        case (.reset, _), (.restore, _): count = 1
        case (.sessions, .post), (.session, .put), (.fork, _): return true
        default: return false
        }
        try server.charge(.dispatches, count, request, admitted.permit, exchange)
        return true
    }

    private static func eventCount(
        _ request: HTTPRequest,
        _ permit: Permit,
        _ server: ServerLoop
    ) throws(Problem) -> Int {
        guard EventLines.isType(request.headers["content-type"]) else { return EventCount.count(in: request.body[...]) }
        let options = try DispatchOptions(request, permit, action: "events")
        let linesMax = server.context.options.limits.linesPerRequestMax
        return EventCount.count(in: try EventLines(request.body, options, linesMax: linesMax).lines)
    }
}
