// Owns what is decided about a request by its head alone, before its body is read.

import RivuletEventLoop
import RivuletHTTP
import RivuletSessions

extension ServerLoop {
    /// Decides about a request that is complete, and performs it.
    func handle(_ request: HTTPRequest, on id: ConnectionID) {
        do throws(Problem) {
            let callers = try passDoors(request, on: id)
            guard request.method != .options else { return answer(id, try options(request)) }
            let length = request.body.count
            let route = try route(of: request, length == 0 ? .none : .length(length), callers, on: id)
            try perform(route, request, Exchange(loop: index, connection: id))
        } catch {
            answer(id, Response(error))
        }
    }

    /// Decides about a request whose body is still to come.
    ///
    /// - Returns: The connection's next action; nil once the request is refused.
    func admit(_ request: HTTPRequest, _ framing: HTTPHead.Framing, on id: ConnectionID) -> HTTPConnection.Action? {
        do throws(Problem) {
            let callers = try passDoors(request, on: id)
            guard request.method != .options else {
                refuseBody(of: id, try options(request))
                return nil
            }
            let route = try route(of: request, framing, callers, on: id)
            // The other resources of an app are looked for when the body is there.
            if let name = route.app { _ = try app(name) }
            let action = try beginBody(id, route, framing)
            _ = connections.update(id) { $0.isInTurn = false }
            return action
        } catch {
            refuseBody(of: id, Response(error))
            return nil
        }
    }

    /// Performs a request that was admitted by its head.
    func performAdmitted(_ request: HTTPRequest, on id: ConnectionID) {
        guard let route = bodies.end(id)?.route else { return }
        _ = connections.update(id) { $0.resume() }
        do throws(Problem) {
            try perform(route, request, Exchange(loop: index, connection: id))
        } catch {
            answer(id, Response(error))
        }
    }

    /// Answers a request whose body is not read.
    func refuseBody(of id: ConnectionID, _ response: Response) {
        let limits = context.httpLimits
        _ = connections.update(id) { entry in
            if !entry.http.refused(limits: limits) { entry.request?.isKeepAlive = false }
        }
        answer(id, response)
    }

    /// Finds the resource of a request, and checks what the head says of the rest.
    ///
    /// The request has passed the doors. The order is part of the contract: the caller first, then the route, the method, the body's length, and whether
    /// there may be one.
    private func route(
        of request: HTTPRequest,
        _ framing: HTTPHead.Framing,
        _ callers: DoorPass.Callers,
        on id: ConnectionID
    ) throws(Problem) -> Route {
        var segments = request.pathSegments
        try resolveCaller(in: &segments, of: request, callers, on: id)
        var cause = RequestRefusal.route
        do throws(Problem) {
            let route = try Route(segments: segments)
            let methods = methods(of: route)
            cause = .method
            guard methods.contains(request.method) else { throw try refusal(of: request.method, route, has: methods) }
            cause = .contentType
            try refuseFormType(route, request)
            cause = .body
            if framing != .none { try checkBody(framing, route, request.method) }
            try refuseUnkeptKey(route, request)
            try refuseEncoding(of: request)
            return route
        } catch {
            counters.requestRefused(cause)
            throw error
        }
    }

    private func checkBody(_ framing: HTTPHead.Framing, _ route: Route, _ method: HTTPMethod) throws(Problem) {
        if case .length(let count) = framing, count > context.httpLimits.bodyBytesMax {
            throw Problem(.bodyTooLarge, HTTPRefusal.tooLarge(context.httpLimits).detail)
        }
        guard route.resource.takesBody(method) else {
            throw Problem(.unexpectedBody, "\(method.name) takes no body here; send none. Nothing has changed")
        }
    }

    /// A client that sends a key relies on it; a resource that keeps no answers must not do the same thing twice.
    private func refuseUnkeptKey(_ route: Route, _ request: HTTPRequest) throws(Problem) {
        guard request.method == .post, !route.resource.keepsAnswers, request.headers.contains("idempotency-key") else {
            return
        }
        throw Problem(
            .keyNotKept,
            "this resource keeps no answers for an Idempotency-Key; send none. Nothing has changed"
        )
    }

    /// A body that is encoded would be taken for something else.
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
}
