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
        try checkView(name, of: app)
        let condition = request.tags("if-none-match")
        withExistingSession(key, of: app, exchange) { session, owner in
            owner.send(session.readView(name), to: exchange) { .reading($0, unless: condition) }
        }
    }

    /// - Throws: 404 for a view that the app does not have.
    func checkView(_ name: String?, of app: any HostedApp) throws(Problem) {
        guard let name, !app.viewNames.contains(name) else { return }
        let known = app.viewNames.isEmpty ? "it has none" : "it has \(app.viewNames.joined(separator: ", "))"
        throw Problem(.viewNotFound, "app \"\(app.name)\" has no view \"\(name)\"; \(known)")
    }
}
