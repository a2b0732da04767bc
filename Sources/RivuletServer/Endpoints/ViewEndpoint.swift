import RivuletAccess
import RivuletHTTP
import RivuletSessions

/// A session's views: reading them.
struct ViewEndpoint {
    let server: ServerLoop

    /// GET of a view object, or of all of them by their names.
    ///
    /// Source: <Documentation/HTTP.md#resources>.
    func view(
        _ name: String?,
        of key: SessionKey,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        let app = try server.core.lookup.app(key.app)
        _ = try Query(request, known: [])
        let views = try permit.views(named: name, of: key)
        try app.check(view: name)
        let condition = request.tags("if-none-match")
        server.ask(key, of: app, for: exchange, .usable) { session, responder in
            let read = session.readView(name, among: views)
            responder.send(read) { answer in
                // A view is granted as a whole, so only the object of all views depends on the caller.
                let tag = ContentTag.masked(answer.cursor.tag, by: name == nil ? views.maskName : "")
                return .reading(answer, tag: tag, unless: condition)
            }
        }
    }
}
