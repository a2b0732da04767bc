import RivuletAccess
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// Opens the change streams of sessions, views, stores and values.
struct ChangesEndpoint {
    let server: ServerLoop

    /// The least and the most milliseconds of `interval=`.
    static var intervalRange: ClosedRange<Int> { 1...60_000 }

    /// GET of `changes`, of a session's state or of a view.
    func open(
        _ key: SessionKey,
        view: String?,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        let app = try server.core.lookup.app(key.app)
        if let view { _ = try permit.views(named: view, of: key) }
        try app.check(view: view)
        let query = try Query(
            request,
            known: ["path", "format", "interval", "resume", "cursor"] + server.context.ticketParameters,
            lists: ["path"]
        )
        try checkAccept(of: request)
        let asked = StreamTopic(
            view: view,
            paths: try server.context.streamPaths(query.values("path")),
            format: try choice("format", in: query) ?? .changes,
            interval: try query.integer("interval", in: Self.intervalRange).map { .milliseconds($0) }
        )
        let (topic, isMasked) = try permit.topic(
            asked,
            of: key,
            pathsMax: server.context.options.sessionLimits.pathsPerStreamMax
        )
        try app.check(asked)
        let resumesAll = try choice("resume", in: query) == StreamResumption.all
        guard !resumesAll || (topic.format == .changes && topic.interval == nil) else {
            throw Problem(
                .invalidQuery,
                "resume=all sends each version as it was; it allows no other format and no interval"
            )
        }
        guard server.streams.hasRoom, server.takeSeat(permit, request, exchange) else {
            return server.streams.answerFull(exchange.connection)
        }
        server.begin(permit, asked: isMasked ? asked : nil, exchange)
        server.streams.subscribe(
            StreamSubscription(
                stream: StreamID(exchange),
                source: .session(key, topic),
                resume: AnswerCoding.plainCursor(request.lastEventID ?? query["cursor"]),
                resumesAll: resumesAll,
                isMasked: isMasked,
                isCompressed: server.connections[exchange.connection]?.takesGzip ?? false
            )
        )
    }

    /// GET of a store's `events` or a value's `changes`.
    func open(
        _ shared: SharedName,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        switch shared.kind {
        case .store:
            // All streams of a store share their events, so a caller that may read some items only gets none.
            try permit.checkAllItems(.read, of: shared)
            _ = try server.core.lookup.store(shared)
        case .value: _ = try server.core.lookup.value(shared)
        }
        let query = try Query(request, known: ["cursor"] + server.context.ticketParameters)
        try checkAccept(of: request)
        guard server.streams.hasRoom, server.takeSeat(permit, request, exchange) else {
            return server.streams.answerFull(exchange.connection)
        }
        server.begin(permit, asked: nil, exchange)
        server.streams.subscribe(
            StreamSubscription(
                stream: StreamID(exchange),
                source: .shared(shared),
                resume: request.lastEventID ?? query["cursor"]
            )
        )
    }

    /// The value of a query parameter that has a few possible values.
    private func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        in query: Query
    ) throws(Problem) -> Choice? {
        guard let text = query[name] else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
            throw Problem(.invalidQuery, "the query parameter \"\(name)\" is \(known); found \"\(text)\"")
        }
        return choice
    }

    /// Refuses a client that does not take an event stream.
    private func checkAccept(of request: HTTPRequest) throws(Problem) {
        guard HTTPAccept.accepts(type: "text/event-stream", in: request.headers.list(of: "accept")) else {
            throw Problem(.notAcceptable, "change streams are text/event-stream; accept that")
        }
    }
}

extension ServerContext {
    /// The parameter with a ticket, on a server that has tickets.
    fileprivate var ticketParameters: [String] { authentication == nil ? [] : [TicketTarget.parameter] }

    /// Reads key paths, up to the limit of a stream.
    func streamPaths(_ texts: [String]) throws(Problem) -> [JSONPointer] {
        let pathsMax = options.sessionLimits.pathsPerStreamMax
        guard texts.count <= pathsMax else {
            throw Problem(.invalidQuery, "a stream takes at most \(pathsMax) paths; found \(texts.count)")
        }
        // Together they may have as many bytes as the target of a request.
        let (bytes, bytesMax) = (texts.reduce(0) { $0 + $1.utf8.count }, httpLimits.targetBytesMax)
        guard bytes <= bytesMax else {
            throw Problem(.invalidQuery, "a stream's paths have at most \(bytesMax) bytes together; found \(bytes)")
        }
        var paths: [JSONPointer] = []
        for text in texts {
            do throws(JSONError) {
                paths.append(try JSONPointer(parsing: text))
            } catch {
                throw Problem(.invalidKeyPath, "bad key path \"\(text)\": \(error)")
            }
        }
        return paths
    }
}

extension HostedApp {
    /// Refuses paths that the state or the view cannot have, and paths that the format does not allow.
    func check(_ topic: StreamTopic) throws(Problem) {
        for path in topic.paths { try check(path, view: topic.view, wildcards: true) }
        guard topic.format == .jsonPatch else { return }
        guard topic.paths.count <= 1, !topic.paths.contains(where: { $0.tokens.contains("*") }) else {
            throw Problem(
                .invalidQuery,
                "format=json-patch describes one document: send one path without \"*\", or none for the whole"
            )
        }
    }
}

/// The form in which a resumed stream gets the changes that it missed.
///
/// Source: <Documentation/HTTP.md#change-streams>.
enum StreamResumption: String, CaseIterable {
    /// As one change.
    case merged
    /// Version by version.
    case all
}

extension HTTPRequest {
    /// The cursor that a reconnecting `EventSource` sends; nil if the field is absent or empty.
    ///
    /// Source: <https://html.spec.whatwg.org/multipage/server-sent-events.html>.
    var lastEventID: String? {
        let id = headers["last-event-id"]
        return id == "" ? nil : id
    }
}
