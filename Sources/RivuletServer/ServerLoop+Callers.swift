// Part of Rivulet. See README.md for the architecture.
// Owns the session id `me`: it is replaced before a request is routed, so that every route below a session has it.

import RivuletEventLoop
import RivuletHTTP

extension ServerLoop {
    /// Puts the caller's session in the place of `me`, and gives a caller without one its cookie with whatever answer follows.
    func resolveCaller(in segments: inout [String], of request: HTTPRequest, on id: ConnectionID) {
        guard segments.count > 4, segments[4] == "me", segments[0] == "v1", segments[1] == "apps",
            segments[3] == "sessions"
        else { return }
        let caller = context.callers.caller(cookies: request.headers.values(of: "cookie"))
        segments[4] = caller.sessionID
        var fields = [HTTPField("Vary", "Cookie")]
        if let cookie = caller.newCookie {
            let isForwardedFromTLS = request.headers["x-forwarded-proto"]?.lowercased() == "https"
            fields.append(context.callers.field(cookie: cookie, isForwardedFromTLS: isForwardedFromTLS))
        }
        _ = connections.update(id) { $0.request?.fields = fields }
    }
}
