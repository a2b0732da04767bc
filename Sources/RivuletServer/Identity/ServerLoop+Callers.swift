// Owns the session id `me`: it is replaced before a request is routed, so that every route below a session has it.

import RivuletEventLoop
import RivuletHTTP

extension ServerLoop {
    /// Puts the caller's session in the place of `me`, and gives a caller without one its cookie with whatever answer follows.
    ///
    /// - Throws: 403 for a page of another site whose browser would not keep that cookie, or would not be shown the answer.
    func resolveCaller(
        in segments: inout [String],
        of request: HTTPRequest,
        _ callers: DoorPass.Callers,
        on id: ConnectionID
    ) throws(Problem) {
        guard Self.isOfCaller(segments) else { return }
        guard callers != .none else { throw refusedCaller(Self.anonymousOrigin) }
        let caller = context.callers.caller(cookies: request.headers.values(of: "cookie"))
        segments[4] = caller.sessionID
        guard callers == .all || caller.isKnown else { throw refusedCaller(Self.unknownCaller) }
        var fields = [HTTPField("Vary", "Cookie")]
        if let cookie = caller.newCookie {
            let isForwardedFromTLS = isForwardedFromTLS(request, on: id)
            fields.append(context.callers.field(cookie: cookie, isForwardedFromTLS: isForwardedFromTLS))
        }
        _ = connections.update(id) { $0.request?.fields += fields }
    }

    /// Whether a path's segments name the session of the caller, or something below it.
    static func isOfCaller(_ segments: [String]) -> Bool {
        segments.count > 4 && segments[4] == "me" && segments[0] == "v1" && segments[1] == "apps"
            && segments[3] == "sessions"
    }

    /// Whether a trusted proxy says that the client speaks TLS with it.
    private func isForwardedFromTLS(_ request: HTTPRequest, on id: ConnectionID) -> Bool {
        let protocols = request.headers.values(of: "x-forwarded-proto")
        guard protocols.count == 1, protocols[0].lowercased() == "https" else { return false }
        return connections.update(id) { $0.address }.map(context.doors.proxies.contains) ?? false
    }

    private func refusedCaller(_ detail: String) -> Problem {
        counters.requestRefused(.caller)
        context.explainOnce(.caller)
        return Problem(.unknownCaller, detail)
    }

    private static let unknownCaller =
        "The session \"me\" is named by a cookie, which browsers do not keep for a page of another site. Serve the page and Rivulet under one "
        + "host name (ports may differ) and send requests with credentials, or name a session by its id. Nothing has changed."

    private static let anonymousOrigin =
        "The session \"me\" is not served to origins that are allowed by \"*\" alone. Start the server with --allowed-origins for the page's "
        + "own origin, or name a session by its id. Nothing has changed."
}
