import RivuletAccess
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// A session's events: dispatching them, and reading its log.
struct EventsEndpoint {
    private static let jsonLines = EventLines.contentType

    let server: ServerLoop

    /// POST S/events: one event, an array as one transaction, or lines, each of which is a transaction.
    func dispatch(
        _ key: SessionKey,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        let app = try server.core.lookup.served(key.app)
        var options = try DispatchOptions(request, permit, action: "events")
        if !request.headers.has("content-type", JSONBody.usualType) {
            let contentType = request.headers["content-type"]
            guard !EventLines.isType(contentType) else {
                return try dispatchLines(options, to: key, of: app, request, permit, exchange)
            }
            try JSONBody.checkType(contentType)
        }
        try server.charge(&options, events: EventCount.count(in: request.body[...]), request, permit, exchange)
        let events = DispatchRequest(
            body: request.body,
            expected: options.expected,
            isStrict: options.isStrict,
            sender: options.sender
        )
        server.ask(key, of: app.host, for: exchange, Dispatch(events, options, to: app))
    }

    private func dispatchLines(
        _ options: DispatchOptions,
        to key: SessionKey,
        of app: ServedApp,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        var options = options
        let linesMax = server.context.options.limits.linesPerRequestMax
        let lines = try EventLines(request.body, options, linesMax: linesMax)
        try server.charge(&options, events: EventCount.count(in: lines.lines), request, permit, exchange)
        let trace = server.trace(of: exchange)
        server.ask(key, of: app.host, for: exchange, options.scope) { [options] session, responder in
            do throws(Problem) {
                let creation = try responder.charge(session, to: options.creator)
                LineDispatch(lines, options, to: session, of: app, responder, trace, creation).run()
            } catch {
                responder.send(Response(error))
            }
        }
    }

    /// GET S/events: a part of the log, and the address of the next part.
    ///
    /// Source: <Documentation/HTTP.md#resources>, RFC 8288.
    func log(
        _ key: SessionKey,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        let app = try server.core.lookup.app(key.app)
        let query = try Query(request, known: ["after", "limit"])
        let after = try query.integer("after", in: 0...Int.max).map(UInt64.init)
        let limit = try query.integer("limit", in: 1...1_000) ?? 100
        let types = ["application/json", Self.jsonLines]
        guard let type = HTTPAccept.preferredType(of: types, in: request.headers.list(of: "accept")) else {
            throw Problem(.notAcceptable, "the log is \(types.joined(separator: " or ")); accept one of them")
        }
        let mask = permit.access.history
        server.ask(key, of: app, for: exchange) { session, responder in
            session.readLog(after: after, limit: limit, masked: mask) { result in
                responder.send(result) { page in
                    var response = Self.response(of: page, of: key, limit: limit, areLines: type == Self.jsonLines)
                    if !mask.isAll { response.fields.append(Response.isMasked) }
                    return response
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

    /// The entries, one on each line.
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
