import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletSessions
import Synchronization

extension ServerLoop {
    /// The least and the most milliseconds of `interval=`.
    static var intervalRange: ClosedRange<Int> { 1...60_000 }

    /// GET of `changes`, of a session's state or of a view.
    func openStream(
        _ key: SessionKey,
        _ view: String?,
        _ request: HTTPRequest,
        on connection: ClientConnection
    ) throws(Problem) {
        let app = try app(key.app)
        try app.check(view: view)
        let query = try Query(
            request,
            known: ["path", "format", "interval", "resume", "cursor"],
            lists: ["path"]
        )
        var options = try streamOptions(of: request)
        let topic = StreamTopic(
            view: view,
            paths: try paths(query.values("path")),
            format: try choice("format", in: query) ?? .changes,
            interval: try query.integer("interval", in: Self.intervalRange).map { .milliseconds($0) }
        )
        try check(topic, of: app)
        let resumesAll = try choice("resume", in: query) == StreamResumption.all
        guard !resumesAll || (topic.format == .changes && topic.interval == nil) else {
            throw Problem(
                .invalidQuery,
                "resume=all tells each version as it was; it goes with no other format and no interval"
            )
        }
        guard streams.hasRoom else { return streams.answerFull(connection) }
        if resumesAll { options.insert(.resumesAll) }
        streams.subscribe(
            StreamSubscription(
                stream: StreamID(loop: index, connection.id, options),
                source: .session(key, topic),
                resume: AnswerCoding.plainCursor(request.lastEventID ?? query["cursor"]),
                resumesAll: resumesAll
            )
        )
    }

    /// GET of a store's `events` or a value's `changes`.
    func openSharedStream(
        _ key: SharedKey,
        _ request: HTTPRequest,
        on connection: ClientConnection
    ) throws(Problem) {
        switch key.kind {
        case .store: _ = try core.store(key)
        case .value: _ = try core.value(key)
        }
        let query = try Query(request, known: ["cursor"])
        let options = try streamOptions(of: request)
        guard streams.hasRoom else { return streams.answerFull(connection) }
        streams.subscribe(
            StreamSubscription(
                stream: StreamID(loop: index, connection.id, options),
                source: .shared(key),
                resume: request.lastEventID ?? query["cursor"]
            )
        )
    }

    /// The value of a query parameter that has a few.
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

    /// Reads key paths, as many as a stream may have.
    func paths(_ texts: [String]) throws(Problem) -> [JSONPointer] {
        let pathsMax = context.options.sessionLimits.pathsPerStreamMax
        guard texts.count <= pathsMax else {
            throw Problem(.invalidQuery, "a stream takes at most \(pathsMax) paths; found \(texts.count)")
        }
        // As many as the target of a request can have.
        let (bytes, bytesMax) = (texts.reduce(0) { $0 + $1.utf8.count }, context.httpLimits.targetBytesMax)
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

    /// Refuses paths that the state or the view cannot have, and those that do not go with the format.
    func check(_ topic: StreamTopic, of app: any HostedApp) throws(Problem) {
        for path in topic.paths { try app.check(path, view: topic.view, wildcards: true) }
        guard topic.format == .jsonPatch else { return }
        guard topic.paths.count <= 1, !topic.paths.contains(where: { $0.tokens.contains("*") }) else {
            throw Problem(
                .invalidQuery,
                "format=json-patch is of one document: send one path without \"*\", or none for the whole"
            )
        }
    }

    /// Refuses a client that does not take an event stream; returns whether the stream is to be compressed.
    private func streamOptions(of request: HTTPRequest) throws(Problem) -> StreamOptions {
        guard HTTPAccept.accepts(type: "text/event-stream", in: request.headers.list(of: "accept")) else {
            throw Problem(.notAcceptable, "change streams are text/event-stream; accept that")
        }
        let acceptsGzip = HTTPAccept.accepts(encoding: "gzip", in: request.headers.list(of: "accept-encoding"))
        return acceptsGzip ? .takesGzip : []
    }

    /// Passes a subscription to its session; the answer comes through the sink.
    func subscribe(_ subscription: StreamSubscription, to key: SessionKey, _ topic: StreamTopic) {
        guard let app = context.apps[key.app] else { return }
        let stream = subscription.stream
        shard.find(key, of: app) { [self] found in
            let refusal: StreamRefusal
            switch found {
            case .failure(let error): refusal = .failed(error)
            case .success(let session):
                if shard.isDeleted(subscription.resume ?? subscription.stood) {
                    refusal = .gone
                } else if !session.isStored, app.sessionPolicy == .explicit {
                    refusal = .failed(.notFound(key))
                } else {
                    return session.subscribe(StreamRequest(subscription, topic))
                }
            }
            outbox.send(.refuse(stream, .session(refusal)), to: stream.loop)
        }
    }
}

extension StreamRequest {
    /// The request of a subscription to a session.
    fileprivate init(_ subscription: StreamSubscription, _ topic: StreamTopic) {
        self.init(
            stream: subscription.stream,
            topic: topic,
            resume: subscription.resume,
            stood: subscription.stood,
            resumesAll: subscription.resumesAll
        )
    }
}

/// How a stream is told what it missed.
///
/// Source: <Documentation/HTTP.md#change-streams>.
enum StreamResumption: String, CaseIterable {
    /// As one change.
    case merged
    /// Version by version.
    case all
}

extension HTTPRequest {
    /// Where an `EventSource` stands; nil without one, as for an empty one.
    ///
    /// Source: <https://html.spec.whatwg.org/multipage/server-sent-events.html>.
    var lastEventID: String? {
        let id = headers["last-event-id"]
        return id == "" ? nil : id
    }
}
