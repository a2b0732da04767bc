import RivuletAccess
import RivuletAuth
import RivuletCluster
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions

/// Decides about the requests of one loop by their heads alone, before their bodies are read.
///
/// The order is part of the contract: the doors first, then OPTIONS, the caller, the route, the method, the content
/// type of forms. The body's length follows, then the permission to have a body, the idempotency key and the encoding.
/// A path that `Route(eventsOf:)` matches names its session by id, so no caller is looked up.
final class Admission {
    /// The outcome for a request that is not refused.
    enum Verdict {
        /// The resource performs it.
        case perform(AdmittedRequest)
        /// This is its answer, for any body.
        case answer(Response)
        /// It would open a stream of a caller that has used its quota; the client may come back after this time.
        case refuseStream(seconds: Int)
        /// It has a ticket of another node, which is to be asked before the next decision.
        case ask(TicketQuestion)
    }

    private let core: LoopCore
    /// The last host that a request named and for which the server answers; empty before the first.
    private var acceptedHost: [UInt8] = []
    /// Finds callers; nil if the server asks for no credentials.
    private let callers: CallerFinder?
    /// The limits; nil for a server without limits, and for requests that another node has counted.
    private let limiter: LoopLimiter?
    /// True if the requests come from other nodes, which have checked the hosts that they name.
    private let isForPeers: Bool

    init(_ core: LoopCore, isForPeers: Bool = false) {
        (self.core, self.isForPeers) = (core, isForPeers)
        limiter = isForPeers ? nil : core.limiter
        callers = CallerFinder(core, limiter)
    }

    private var context: ServerContext { core.context }

    /// Decides about a request that has a body with this framing.
    func verdict(
        on request: HTTPRequest,
        _ framing: HTTPHead.Framing,
        _ connection: ClientConnection
    ) throws(Problem) -> Verdict {
        let callers = try passDoors(request, on: connection)
        guard request.method != .options else { return .answer(try options(request)) }
        if context.cluster != nil, framing == .none, let question = try ticketQuestion(of: request, on: connection) {
            return .ask(question)
        }
        do throws(Problem) {
            return .perform(try admitted(request, framing, callers, on: connection))
        } catch {
            guard error.type == .quotaExceeded, framing == .none, let seconds = error.retrySeconds,
                Self.isForStream(request)
            else { throw error }
            // A browser does not reconnect after 429.
            return .refuseStream(seconds: seconds)
        }
    }

    /// True if a request would open a stream.
    private static func isForStream(_ request: HTTPRequest) -> Bool {
        guard request.method == .get else { return false }
        var segments = request.pathSegments
        if isOfCaller(segments) { segments[4] = "caller" }
        guard let route = try? Route(segments: segments) else { return false }
        return route.resource.isStream
    }

    /// Finds the resource of a request and its caller's permissions, and checks the head's fields about the body.
    ///
    /// The request has passed the doors.
    private func admitted(
        _ request: HTTPRequest,
        _ framing: HTTPHead.Framing,
        _ callers: DoorPass.Callers,
        on connection: ClientConnection
    ) throws(Problem) -> AdmittedRequest {
        let events = Route(eventsOf: request)
        var segments: [String] = []
        // This is a pattern, because `== nil` copies the route.
        if case .none = events { segments = request.pathSegments }
        let repeated = repeatedPermit(of: request, events, on: connection)
        var identity =
            if let repeated { repeated.identity as Identity? } else {
                try identity(of: request, segments, callers, on: connection)
            }
        if let limiter, Self.isCounted(segments) {
            try limiter.chargeRequest(
                of: identity,
                at: context.doors.clientAddress(of: request, on: connection),
                connection
            )
        }
        if case .none = events {
            identity = try resolveCaller(in: &segments, of: request, identity, callers, on: connection)
        }
        var cause = RequestRefusalReason.route
        do throws(Problem) {
            let route = if let events { events } else { try Route(segments: segments) }
            let permit: Permit =
                if let repeated { .limited(repeated) } else {
                    try permit(identity, route, request.method, on: connection)
                }
            let methods = context.methods(of: route)
            cause = .method
            guard methods.has(request.method) else {
                throw try context.refusal(of: request.method, route, has: methods)
            }
            cause = .caller
            try refuseForeignLogin(route, request.method, callers)
            cause = .contentType
            try refuseFormType(route, request)
            cause = .body
            if framing != .none { try checkBody(framing, route, request.method) }
            try refuseUnkeptKey(route, request)
            try refuseEncoding(of: request)
            let generation = self.callers?.generation ?? CallerGeneration()
            var admitted = AdmittedRequest(route: route, permit: permit, generation: generation)
            switch framing {
            case .length(let bytes): try charge(bytes: bytes, of: request, permit, on: connection)
            case .chunked: admitted.hasUncountedBody = true
            case .none: break
            }
            return admitted
        } catch {
            core.counters.requestRefused(cause)
            throw error
        }
    }

    /// The permissions of a dispatch that repeats its connection's last credential and session; nil for another
    /// request.
    private func repeatedPermit(
        of request: borrowing HTTPRequest,
        _ events: Route?,
        on connection: ClientConnection
    ) -> CallerPermit? {
        guard let callers, case .events(let key)? = events else { return nil }
        return callers.repeatedPermit(of: request, to: key, on: connection)
    }

    /// Decides again about a request whose body came after a revocation or a reload.
    ///
    /// - Throws: 401 for a credential that is not valid any more, 403 for a permission that is gone.
    func confirm(
        _ admitted: inout AdmittedRequest,
        _ method: HTTPMethod,
        on connection: ClientConnection
    ) throws(Problem) {
        guard let callers, callers.presentGeneration != admitted.generation,
            let identity = admitted.permit.identity
        else { return }
        admitted.generation = callers.presentGeneration
        admitted.permit = try permit(try core.identify(again: identity), admitted.route, method, on: connection)
    }

    /// Counts the bytes of a request's body.
    ///
    /// - Throws: 429 if the caller has used its quota.
    func charge(
        bytes: Int,
        of request: HTTPRequest,
        _ permit: Permit,
        on connection: ClientConnection
    ) throws(Problem) {
        guard let limiter, bytes > 0 else { return }
        let key = limiter.key(of: permit.identity, at: context.doors.clientAddress(of: request, on: connection))
        try limiter.charge(bytes: bytes, of: key, on: connection)
    }

    private func checkBody(_ framing: HTTPHead.Framing, _ route: Route, _ method: HTTPMethod) throws(Problem) {
        if case .length(let count) = framing, count > context.httpLimits.bodyBytesMax {
            throw Problem(.bodyTooLarge, HTTPError.tooLarge(context.httpLimits).detail)
        }
        guard route.resource.takesBody(method) else {
            throw Problem(.unexpectedBody, "\(method.name) takes no body here; send none. Nothing has changed")
        }
    }

    /// Refuses an idempotency key on a resource that has no idempotency records.
    ///
    /// A client that sends a key relies on it, but a retry would have a second effect on such a resource.
    private func refuseUnkeptKey(_ route: Route, _ request: HTTPRequest) throws(Problem) {
        guard request.method == .post, !route.resource.keepsAnswers, request.headers.contains("idempotency-key") else {
            return
        }
        throw Problem(
            .keyNotKept,
            "this resource has no idempotency records; send no Idempotency-Key. Nothing has changed"
        )
    }

    /// Refuses an encoded body, because the server would read it without decoding it.
    ///
    /// Source: RFC 9110 §8.4.
    private func refuseEncoding(of request: HTTPRequest) throws(Problem) {
        guard let encoding = request.headers["content-encoding"], encoding.lowercased() != "identity" else { return }
        throw Problem(
            .unsupportedContentEncoding,
            "the server decodes no Content-Encoding; send the body as it is. Found \(encoding)",
            fields: [HTTPField("Accept-Encoding", "identity")]
        )
    }

    // MARK: - Doors

    /// Admits a request by its head, and records the constant lines of its answer.
    ///
    /// - Returns: The callers for which `me` is served.
    /// - Throws: 421 for a foreign host, 403 for a page that is not allowed.
    private func passDoors(_ request: HTTPRequest, on connection: ClientConnection) throws(Problem) -> DoorPass.Callers
    {
        if context.doors.isOrdinary(request, acceptedHost: acceptedHost) { return .all }
        switch context.doors.verdict(on: request, acceptsAnyHost: isForPeers) {
        case .pass(let pass):
            // The exempt resources pass with any host, so their host is not remembered.
            if !Doors.isExempt(request), let host = request.host { acceptedHost = Array(host.utf8) }
            connection.amendRequest { $0.constantFields = pass.fields }
            return pass.callers
        case .refuse(let refusal):
            core.counters.requestRefused(refusal.cause)
            context.explainOnce(refusal.cause)
            connection.amendRequest { $0.constantFields = refusal.fields }
            throw refusal.problem
        }
    }

    /// Refuses the content types of HTML forms on a resource that needs no body.
    ///
    /// A form sends these types without a preflight, so a page of another site may have sent the request.
    private func refuseFormType(_ route: Route, _ request: HTTPRequest) throws(Problem) {
        guard route.resource.mayPostNothing, request.method == .post else { return }
        for type in request.headers.values(of: "content-type") {
            guard let essence = HTTPMediaType(type)?.essence, Self.formTypes.contains(essence) else { continue }
            let remedy =
                route.resource.takesBody(.post) ? "Send JSON with Content-Type: application/json, or no" : "Send no"
            throw Problem(
                .unsupportedContentType,
                "This resource takes no \(essence). \(remedy) body and no Content-Type, as curl -X POST does. Nothing has changed."
            )
        }
    }

    /// Source: <https://fetch.spec.whatwg.org/#cors-safelisted-request-header>.
    private static let formTypes = ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"]

    // MARK: - OPTIONS

    /// The answer to OPTIONS: the methods of the resource and, for a preflight, the headers that the page may send.
    ///
    /// - Throws: 404 or 400 for a path that names no resource.
    private func options(_ request: HTTPRequest) throws(Problem) -> Response {
        let allowed = try optionMethods(of: request).allow
        guard request.headers.contains("origin"), request.headers.contains("access-control-request-method") else {
            return Response(.noContent, fields: [HTTPField("Allow", allowed)])
        }
        return Response(
            .noContent,
            fields: [
                HTTPField("Allow", allowed), HTTPField("Access-Control-Allow-Methods", allowed),
                HTTPField("Access-Control-Allow-Headers", ConstantFields.requestHeaders),
                HTTPField("Access-Control-Max-Age", "\(ConstantFields.preflightSeconds)"),
            ]
        )
    }

    private func optionMethods(of request: HTTPRequest) throws(Problem) -> MethodSet {
        guard !request.isPath("*") else { return .all }
        var segments = request.pathSegments
        // OPTIONS for `me` makes no session and sets no cookie, because any id has the same methods.
        if Self.isOfCaller(segments) { segments[4] = "caller" }
        let route: Route
        do throws(Problem) {
            route = try Route(segments: segments)
        } catch {
            core.counters.requestRefused(.route)
            throw error
        }
        // A preflight has no credential, so on a server that asks for one the answer shows no app and no binding.
        guard context.authentication == nil else { return route.resource.methods }
        if let name = route.app { _ = try core.lookup.app(name) }
        return context.methods(of: route)
    }

    // MARK: - The caller

    /// Returns the caller that the request's credential names; nil if the server asks for no credentials.
    ///
    /// `segments` are those of the path, or empty for a path of events. A page that `*` alone allows has no cookies,
    /// because any page could otherwise act as the browser's caller.
    ///
    /// - Throws: 401 for a credential that is not valid.
    private func identity(
        of request: HTTPRequest,
        _ segments: [String],
        _ callers: DoorPass.Callers,
        on connection: ClientConnection
    ) throws(Problem) -> Identity? {
        guard let finder = self.callers else { return nil }
        if request.query != nil {
            let items = request.queryItems
            try Credentials.refuse(in: items)
            if let ticket = try Self.ticket(in: items, of: request, segments) {
                guard let opened = connection.request?.openedTicket else {
                    return try finder.caller(of: ticket, for: TicketTarget(segments, items), request, on: connection)
                }
                return try finder.caller(opening: opened, request, on: connection)
            }
        }
        let readsCookie = callers != .none && Self.readsCookie(segments)
        return try finder.caller(of: request, on: connection, readsCookie: readsCookie)
    }

    /// True if the resource of a path looks at the cookie with a token.
    ///
    /// It agrees with `Resource.readsCookie`, and also decides about paths that name no resource.
    static func readsCookie(_ segments: [String]) -> Bool {
        isCounted(segments) && !(segments.count == 2 && segments[1] == "login" && segments[0] == "v1")
    }

    /// True if requests for a path are counted: all but those for files, health checks and descriptions of problems.
    private static func isCounted(_ segments: [String]) -> Bool {
        switch segments.first {
        case nil, "v1", "metrics", "openapi.json": true
        default: false
        }
    }

    /// Returns the ticket of a request for a stream; nil if it has none.
    ///
    /// - Throws: 400 for a ticket on another resource of the server; a parameter of a file may have any name.
    private static func ticket(
        in items: [HTTPQueryItem],
        of request: HTTPRequest,
        _ segments: [String]
    ) throws(Problem) -> String? {
        guard isCounted(segments), let ticket = try Credentials.ticket(in: items, of: request)
        else { return nil }
        var segments = segments
        // A route has no `me`, and streams of any session are streams.
        if isOfCaller(segments) { segments[4] = "caller" }
        guard request.method == .get, let route = try? Route(segments: segments), route.resource.isStream else {
            throw Credentials.ticketMisplaced
        }
        return ticket
    }

    /// The question about a request's ticket of another node; nil for any other request, and after the answer.
    ///
    /// - Throws: 400 as `identity` does.
    private func ticketQuestion(
        of request: HTTPRequest,
        on connection: ClientConnection
    ) throws(Problem) -> TicketQuestion? {
        guard request.query != nil, callers != nil, connection.request?.openedTicket == nil,
            let cluster = context.cluster
        else { return nil }
        let (segments, items) = (request.pathSegments, request.queryItems)
        try Credentials.refuse(in: items)
        guard let ticket = try Self.ticket(in: items, of: request, segments),
            // A node that has just joined may not be known here yet.
            let node = StreamTickets.node(of: ticket), node != cluster.member.node
        else { return nil }
        return TicketQuestion(node: node, ticket: TicketID(ticket), target: TicketTarget(segments, items))
    }

    private func permit(
        _ identity: Identity?,
        _ route: Route,
        _ method: HTTPMethod,
        on connection: ClientConnection
    ) throws(Problem) -> Permit {
        guard let identity, let callers else { return .everything }
        do throws(Problem) {
            return try Permit.decide(identity, route, method) { callers.permit(of: identity, to: $0, on: connection) }
        } catch {
            core.counters.authenticated(error.status == 403 ? .denied : .missing)
            throw error
        }
    }

    /// Replaces `me` by the session of the caller's credential, or by that of its cookie, and adds the cookie of a new
    /// caller to any answer that follows.
    ///
    /// - Returns: The caller, with the session of its cookie as its `me`; nil if the server asks for no credentials.
    /// - Throws: 403 for a page of another site, if its browser would not keep that cookie or would not show the answer
    ///   to the page.
    private func resolveCaller(
        in segments: inout [String],
        of request: HTTPRequest,
        _ identity: Identity?,
        _ callers: DoorPass.Callers,
        on connection: ClientConnection
    ) throws(Problem) -> Identity? {
        guard Self.isOfCaller(segments) else { return identity }
        if let me = identity?.caller.me {
            segments[4] = me
            if identity?.caller.isAnonymous == true {
                connection.amendRequest { $0.fields.append(HTTPField("Vary", "Cookie")) }
            }
            return identity
        }
        if let me = connection.request?.forwarded?.me {
            segments[4] = me
            return self.callers?.anonymous(me: me)
        }
        guard callers != .none else { throw refusedCaller(Self.anonymousOrigin) }
        let caller = context.sessionCookies.caller(cookies: request.headers.values(of: "cookie"))
        segments[4] = caller.sessionID
        guard callers == .all || caller.isKnown else { throw refusedCaller(Self.unknownCaller) }
        var fields = [HTTPField("Vary", "Cookie")]
        if let cookie = caller.newCookie {
            let isForwardedFromTLS = context.doors.isForwardedFromTLS(request, on: connection)
            fields.append(context.sessionCookies.field(cookie: cookie, isForwardedFromTLS: isForwardedFromTLS))
        }
        connection.amendRequest { $0.fields += fields }
        return self.callers?.anonymous(me: caller.sessionID)
    }

    /// True if a path's segments name the session of the caller, or something below it.
    static func isOfCaller(_ segments: [String]) -> Bool {
        segments.count > 4 && segments[4] == "me" && segments[0] == "v1" && segments[1] == "apps"
            && segments[3] == "sessions"
    }

    private func refusedCaller(_ detail: String) -> Problem {
        core.counters.requestRefused(.caller)
        context.explainOnce(.caller)
        return Problem(.unknownCaller, detail)
    }

    /// Refuses the sign-in of a page if its browser would not keep the cookie.
    private func refuseForeignLogin(
        _ route: Route,
        _ method: HTTPMethod,
        _ callers: DoorPass.Callers
    ) throws(Problem) {
        guard case .login = route, method == .put, callers != .all else { return }
        throw Problem(.crossSite, Self.foreignLogin)
    }

    private static let foreignLogin =
        "A browser keeps no login cookie for a page of another site, so this page cannot sign in with one. Send each request with "
        + "Authorization: Bearer, and open streams with tickets (POST /v1/tickets). Nothing has changed."

    private static let unknownCaller =
        "The session \"me\" is named by a cookie, which browsers do not keep for a page of another site. Serve the page and Rivulet under one "
        + "host name (ports may differ) and send requests with credentials, or name a session by its id. Nothing has changed."

    private static let anonymousOrigin =
        "The session \"me\" is not served to origins that are allowed by \"*\" alone. Start the server with --allowed-origins for the page's "
        + "own origin, or name a session by its id. Nothing has changed."
}

/// A request that is not refused by its head.
struct AdmittedRequest: Sendable {
    let route: Route
    var permit: Permit
    /// The keys, rules and revocations under which its caller was found.
    var generation = CallerGeneration()
    /// True if the head does not say how long the body is, so that its bytes are counted when it is complete.
    var hasUncountedBody = false
}
