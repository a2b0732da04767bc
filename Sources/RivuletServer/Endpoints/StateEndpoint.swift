import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// A session's state: reading it, now and in the past, and writing where a binding is.
struct StateEndpoint {
    let server: ServerLoop

    /// GET and PUT of a session's state, or of a key path below it.
    func state(
        _ key: SessionKey,
        _ path: JSONPointer,
        _ request: HTTPRequest,
        _ exchange: Exchange
    ) throws(Problem) {
        guard request.method != .put else { return try write(path, of: key, request, exchange) }
        let app = try server.core.lookup.app(key.app)
        let version = try Query(request, known: ["version"]).integer("version", in: 0...Int.max)
        try app.check(path)
        let condition = request.tags("if-none-match")
        server.ask(key, of: app, for: exchange, .usable) { session, responder in
            guard let version else {
                return responder.send(session.read(path)) { answer in
                    .reading(answer, unless: condition, share: responder.server.body(of:))
                }
            }
            session.read(path, at: UInt64(version)) { result in
                responder.send(result) { Self.past($0, unless: condition) }
            }
        }
    }

    /// PUT of a key path: the event that the path's binding makes of the value.
    private func write(
        _ path: JSONPointer,
        of key: SessionKey,
        _ request: HTTPRequest,
        _ exchange: Exchange
    ) throws(Problem) {
        let app = try server.core.lookup.served(key.app)
        // An element's id may be none, as in a request to read it.
        try app.host.check(path)
        let wish = try DispatchWish(request, action: "state\(path)")
        try JSONBody.checkType(request.headers["content-type"])
        let value = DispatchRequest(
            body: request.body,
            boundPath: path,
            expected: wish.expected,
            isStrict: wish.isStrict
        )
        server.ask(key, of: app.host, for: exchange, Dispatch(value, wish, to: app))
    }

    /// Answers a value of the past.
    ///
    /// Another life of the session, or another build, may give this number another value, so a cache has to ask each time: the tag tells.
    private static func past(_ answer: StateAnswer, unless condition: String?) -> Response {
        let tag = ContentTag.past(answer)
        let fields =
            Response.fields(tag: tag, version: answer.cursor.position.version)
            + [HTTPField("Cache-Control", "private, no-cache")]
        if let condition, HTTPEntityTag.matchesWeakly(condition, tag: tag) {
            return Response(.notModified, fields: fields)
        }
        return Response(.ok, fields: fields + [HTTPField("Content-Type", "application/json")], body: answer.value)
    }
}
