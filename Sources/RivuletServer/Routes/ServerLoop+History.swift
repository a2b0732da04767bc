// Owns the resources of a session's past: its log, its states, and going back to them.

import RivuletEngine
import RivuletHTTP
import RivuletJSON
import RivuletSessions

extension ServerLoop {
    private static let jsonLines = "application/x-ndjson"

    // MARK: - Reading

    /// Answers a part of the log, and where the next one is.
    ///
    /// Source: <Documentation/HTTP.md#resources>, RFC 8288.
    func readLog(_ key: SessionKey, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let app = try app(key.app)
        let query = try Query(request, known: ["after", "limit"])
        let after = try query.integer("after", in: 0...Int.max).map(UInt64.init)
        let limit = try query.integer("limit", in: 1...1_000) ?? 100
        let types = ["application/json", Self.jsonLines]
        guard let type = HTTPAccept.preferredType(of: types, in: request.headers.list(of: "accept")) else {
            throw Problem(.notAcceptable, "the log is \(types.joined(separator: " or ")); accept one of them")
        }
        withSession(key, of: app, exchange) { session, owner in
            session.readLog(after: after, limit: limit) { result in
                owner.send(result, to: exchange) { page in
                    Self.response(of: page, of: key, limit: limit, areLines: type == Self.jsonLines)
                }
            }
        }
    }

    private static func response(of page: LogPage, of key: SessionKey, limit: Int, areLines: Bool) -> Response {
        var fields = [HTTPField("Rivulet-Version", "\(page.cursor.position.version)"), HTTPField("Vary", "Accept")]
        if page.hasMore, let last = page.entries.last {
            let target = "/v1/apps/\(key.app)/sessions/\(key.id)/events?after=\(last.version)&limit=\(limit)"
            fields.append(HTTPField("Link", "<\(target)>; rel=\"next\""))
        }
        guard areLines else { return .json(page.json, fields: fields) }
        fields += [HTTPField("Content-Type", jsonLines), HTTPField("Cache-Control", "no-store")]
        return Response(.ok, fields: fields, body: page.jsonLines)
    }

    /// Answers a value of the past.
    ///
    /// Another life of the session, or another build, may give this number another value, so a cache has to ask each time: the tag tells.
    func readPast(
        _ key: SessionKey,
        _ path: JSONPointer,
        at version: UInt64,
        of app: any HostedApp,
        _ request: HTTPRequest,
        _ exchange: Exchange
    ) {
        let condition = request.tags("if-none-match")
        withExistingSession(key, of: app, exchange) { session, owner in
            session.read(path, at: version) { result in
                owner.send(result, to: exchange) { answer in
                    let tag = ContentTag.past(answer)
                    let fields =
                        Response.fields(tag: tag, version: answer.cursor.position.version)
                        + [HTTPField("Cache-Control", "private, no-cache")]
                    if let condition, HTTPEntityTag.matchesWeakly(condition, tag: tag) {
                        return Response(.notModified, fields: fields)
                    }
                    let type = HTTPField("Content-Type", "application/json")
                    return Response(.ok, fields: fields + [type], body: answer.value)
                }
            }
        }
    }

    // MARK: - Going back

    func reset(_ key: SessionKey, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let wish = try DispatchWish(request, action: "reset")
        try dispatch(.reset, wish, to: key, request, exchange)
    }

    func restore(_ key: SessionKey, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let query = try Query(request, known: ["version", "strict"])
        guard let version = try query.integer("version", in: 0...Int.max) else {
            throw Problem(.invalidQuery, "which version? Name it, as in restore?version=3")
        }
        let wish = try DispatchWish(request, action: "restore version=\(version)", known: ["version"])
        try dispatch(.restored(version: UInt64(version)), wish, to: key, request, exchange)
    }

    private func dispatch(
        _ event: EngineEvent,
        _ wish: DispatchWish,
        to key: SessionKey,
        _ request: HTTPRequest,
        _ exchange: Exchange
    ) throws(Problem) {
        let dispatch = DispatchRequest(event, expected: wish.expected, isStrict: wish.isStrict)
        self.dispatch(dispatch, wish, to: key, of: try app(key.app), exchange)
    }

    /// Begins another session with a state of this one.
    func fork(_ key: SessionKey, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let app = try app(key.app)
        let query = try Query(request, known: ["version", "strict"])
        let version = try query.integer("version", in: 0...Int.max).map(UInt64.init)
        let isStrict = try query.flag("strict")
        let wish = try SessionWish(body: request.body, contentType: request.headers["content-type"])
        guard wish.state == nil else {
            throw Problem(
                .unexpectedState,
                "a fork begins with the other session's state; leave \"state\" out, or create a session"
            )
        }
        let target = try Route.sessionKey(app: app.name, id: wish.id ?? RandomToken.sessionID())
        withSession(key, of: app, exchange) { session, owner in
            session.document(at: version) { result in
                switch result {
                case .failure(let error): owner.send(owner.refusal(error), to: exchange)
                case .success(let document):
                    owner.create(target, of: app, from: document, isStrict: isStrict, exchange)
                }
            }
        }
    }

    private func create(
        _ key: SessionKey,
        of app: any HostedApp,
        from document: [UInt8],
        isStrict: Bool,
        _ exchange: Exchange
    ) {
        onShard(of: key) { owner in
            owner.shard.find(key, of: app) { found in
                owner.withFound(found, exchange) { session in
                    session.create(state: JSONReader(document), isStrict: isStrict) { result in
                        owner.send(result.flatMap { Self.creation($0, isPost: true) }, to: exchange) { $0 }
                    }
                }
            }
        }
    }
}

extension LogPage {
    /// The entries as one array.
    fileprivate var json: [UInt8] {
        var writer = JSONWriter(capacity: capacity)
        writer.beginArray()
        for entry in entries { entry.encodeJSON(into: &writer) }
        writer.endArray()
        return writer.bytes
    }

    /// The entries as a line each.
    fileprivate var jsonLines: [UInt8] {
        var lines: [UInt8] = []
        lines.reserveCapacity(capacity)
        for entry in entries {
            var writer = JSONWriter(capacity: entry.byteCount + 128)
            entry.encodeJSON(into: &writer)
            lines += writer.bytes
            lines.append(UInt8(ascii: "\n"))
        }
        return lines
    }

    private var capacity: Int { entries.reduce(16) { $0 + $1.byteCount + 128 } }
}
