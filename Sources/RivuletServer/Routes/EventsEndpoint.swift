import RivuletBase
import RivuletHTTP
import RivuletJSON
import RivuletSessions
import RivuletStores

/// A session's events: dispatching them, and reading its log.
struct EventsEndpoint {
    private static let jsonLines = EventLines.contentType

    let server: ServerLoop

    /// POST S/events: one event, an array as one transaction, or lines that are a transaction each.
    func dispatch(_ key: SessionKey, _ request: HTTPRequest, _ connection: ClientConnection) throws(Problem) {
        let app = try server.core.lookup.served(key.app)
        let wish = try DispatchWish(request, action: "events")
        if !request.headers.has("content-type", JSONBody.usualType) {
            let contentType = request.headers["content-type"]
            guard !EventLines.isType(contentType) else {
                return try dispatchLines(wish, to: key, of: app, request, connection)
            }
            try JSONBody.checkType(contentType)
        }
        let events = DispatchRequest(body: request.body, expected: wish.expected, isStrict: wish.isStrict)
        server.ask(key, of: app.host, for: server.exchange(connection), Dispatch(events, wish, to: app))
    }

    private func dispatchLines(
        _ wish: DispatchWish,
        to key: SessionKey,
        of app: ServedApp,
        _ request: HTTPRequest,
        _ connection: ClientConnection
    ) throws(Problem) {
        let linesMax = server.context.options.limits.linesPerRequestMax
        let lines = try EventLines(request.body, wish, linesMax: linesMax)
        let trace = connection.request?.trace
        server.ask(key, of: app.host, for: server.exchange(connection), .usable) { session, responder in
            LineDispatch(lines, wish, to: session, of: app, responder, trace).run()
        }
    }

    /// GET S/events: a part of the log, and the address of the next one.
    ///
    /// Source: <Documentation/HTTP.md#resources>, RFC 8288.
    func log(_ key: SessionKey, _ request: HTTPRequest, _ connection: ClientConnection) throws(Problem) {
        let app = try server.core.lookup.app(key.app)
        let query = try Query(request, known: ["after", "limit"])
        let after = try query.integer("after", in: 0...Int.max).map(UInt64.init)
        let limit = try query.integer("limit", in: 1...1_000) ?? 100
        let types = ["application/json", Self.jsonLines]
        guard let type = HTTPAccept.preferredType(of: types, in: request.headers.list(of: "accept")) else {
            throw Problem(.notAcceptable, "the log is \(types.joined(separator: " or ")); accept one of them")
        }
        server.ask(key, of: app, for: server.exchange(connection)) { session, responder in
            session.readLog(after: after, limit: limit) { result in
                responder.send(result) { page in
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
}

/// The dispatch of one request as one transaction.
struct Dispatch: SessionAct {
    let scope = SessionScope.usable
    let request: DispatchRequest
    let wish: DispatchWish
    /// The place of the app among those that loops count by.
    let appIndex: Int

    /// A dispatch to an app of this server.
    init(_ request: DispatchRequest, _ wish: DispatchWish, to app: ServedApp) {
        (self.request, self.wish, appIndex) = (request, wish, app.index)
    }

    func act(on session: Session, _ responder: SessionResponder) {
        // Nearly every dispatch has no key.
        guard wish.key == nil else { return actOnce(on: session, responder) }
        let (index, isMinimal, core) = (appIndex, wish.isMinimal, responder.server.core)
        let named = namedBody
        session.dispatch(request) { result in
            core.counters.count(result, of: index)
            switch result {
            case .success(let answer): responder.send(KeptResponse(answer, isMinimal: isMinimal).response())
            case .failure(let error): responder.send(Response(refusing: error, of: named))
            }
        }
    }

    private func actOnce(on session: Session, _ responder: SessionResponder) {
        let core = responder.server.core
        guard let claim = wish.claim(body: request.body, core.context.prints) else { return }
        let (index, named) = (appIndex, namedBody)
        session.dispatch(request, once: claim) { result in
            core.counters.count(result, of: index)
            switch result {
            case .success(let answer): responder.send(Self.response(to: answer))
            case .failure(let error): responder.send(Response(refusing: error, of: named))
            }
        }
    }

    /// The body where it names the event that an error is about; empty where it is a value for a key path.
    private var namedBody: [UInt8] { request.boundPath == nil ? request.body : [] }

    private static func response(to answer: OnceAnswer) -> Response {
        if let kept = KeptResponse(answer.body) { return kept.response(isReplay: answer.isReplay) }
        return Response(
            Problem(
                .keptAnswerUnreadable,
                "The answer kept under this Idempotency-Key cannot be read. The event took effect when it came first. Read the session to see its effect."
            ),
            cause: UnreadableKeptAnswer()
        )
    }
}

/// An idempotency record whose answer is none.
private struct UnreadableKeptAnswer: LoggableError {
    var logText: String { "the answer of an idempotency record cannot be read; `rivulet check` names damaged sessions" }
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
