// Owns the reading of a session's view objects over HTTP.

import RivuletHTTP
import RivuletSessions

extension ServerLoop {
    /// Answers with a view object, or with all of them by their names.
    ///
    /// Source: <Documentation/HTTP.md#resources>.
    func readView(
        _ key: SessionKey,
        _ name: String?,
        _ request: HTTPRequest,
        _ exchange: Exchange
    ) throws(Problem) {
        let app = try app(key.app)
        _ = try Query(request, known: [])
        try app.check(view: name)
        let condition = request.tags("if-none-match")
        withExistingSession(key, of: app, exchange) { session, owner in
            owner.send(session.readView(name), to: exchange) { .reading($0, unless: condition) }
        }
    }
}
