import RivuletAccess
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// A session's state: reading it, now and in the past, and writing key paths that have a binding.
struct StateEndpoint {
    let server: ServerLoop

    /// GET and PUT of a session's state, or of a key path below it.
    func state(
        _ key: SessionKey,
        _ path: JSONPointer,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        guard request.method != .put else { return try write(path, of: key, request, permit, exchange) }
        let app = try server.core.lookup.app(key.app)
        let version = try Query(request, known: ["version"]).integer("version", in: 0...Int.max)
        let mask = try permit.mask(for: version == nil ? .read : .history, at: path, of: key)
        try app.check(path)
        let condition = request.tags("if-none-match")
        guard mask.grants(path) else {
            return readMasked(path, at: version, mask, of: key, app, unless: condition, exchange)
        }
        server.ask(key, of: app, for: exchange, .usable) { session, responder in
            guard let version else {
                return session.read(path) { result in
                    responder.send(result) { Self.present($0, unless: condition, on: responder.server) }
                }
            }
            session.read(path, at: UInt64(version)) { result in
                responder.send(result) { Self.past($0, unless: condition) }
            }
        }
    }

    /// Answers with the part of a value that the mask grants.
    private func readMasked(
        _ path: JSONPointer,
        at version: Int?,
        _ mask: PathMask,
        of key: SessionKey,
        _ app: any HostedApp,
        unless condition: String?,
        _ exchange: Exchange
    ) {
        server.ask(key, of: app, for: exchange, .usable) { session, responder in
            session.read(path, at: version.map(UInt64.init), masked: mask) { result in
                responder.send(result) { Self.masked($0, by: mask, isPast: version != nil, unless: condition) }
            }
        }
    }

    /// The answer with a part of a value.
    private static func masked(
        _ answer: StateAnswer,
        by mask: PathMask,
        isPast: Bool,
        unless condition: String?
    ) -> Response {
        let tag = ContentTag.masked(isPast ? ContentTag.past(answer) : answer.cursor.tag, by: mask.name)
        let fields = Response.fields(tag: tag, version: answer.cursor.position.version) + [Response.isMasked]
        if let condition, HTTPEntityTag.matchesWeakly(condition, tag: tag) {
            return Response(.notModified, fields: fields)
        }
        return .json(answer.value, fields: fields)
    }

    /// PUT of a key path: the event that the path's binding makes of the value.
    private func write(
        _ path: JSONPointer,
        of key: SessionKey,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        let app = try server.core.lookup.served(key.app)
        // A path with an invalid element id is refused, as in a request to read it.
        try app.host.check(path)
        var options = try DispatchOptions(request, permit, action: "state\(path)")
        try JSONBody.checkType(request.headers["content-type"])
        try server.charge(&options, request, permit, exchange)
        let value = DispatchRequest(
            body: request.body,
            boundPath: path,
            expected: options.expected,
            isStrict: options.isStrict,
            sender: options.sender
        )
        server.ask(key, of: app.host, for: exchange, Dispatch(value, options, to: app))
    }

    /// Answers with the present value; 503 for a large value if too many bytes wait for other clients by now.
    private static func present(_ answer: StateAnswer, unless condition: String?, on server: ServerLoop) -> Response {
        guard answer.shared == nil || !server.context.holdsTooMuch else { return Response(.heldBytesFull) }
        return .reading(answer, unless: condition, share: server.body(of:))
    }

    /// Answers with a past value.
    ///
    /// The same version may have another value in another history of the session, or under another build. So a cache
    /// has to ask each time, and the tag shows the difference.
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
