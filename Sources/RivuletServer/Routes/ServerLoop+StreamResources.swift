import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletSessions

extension ServerLoop {
    // MARK: - All

    /// GET of `/v1/streams`: the streams of all loops, loop by loop.
    func listStreams(_ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let query = try Query(request, known: ["after", "limit"])
        let limit = try query.integer("limit", in: 1...1_000) ?? 100
        var after: StreamName?
        if let text = query["after"] {
            after = StreamName(text)
            guard after != nil else { throw Problem(.invalidQuery, "\"after\" is the name of a stream; found \"\(text)\"") }
        }
        collect(StreamPage(limit: limit, after: after), from: after?.loop ?? 0, for: exchange)
    }

    /// Adds a loop's streams to the page, and goes on with the next loop or answers.
    private func collect(_ page: StreamPage, from index: Int, for exchange: Exchange) {
        guard index < core.peers.count, !page.isFull else { return send(.json(page.json), to: exchange) }
        onLoop(index) { loop in
            var page = page
            for description in loop.streams.descriptions where page.wants(description.name) {
                page.add(description)
                if page.isFull { break }
            }
            loop.collect(page, from: index + 1, for: exchange)
        }
    }

    // MARK: - One

    /// GET, PATCH and DELETE of `/v1/streams/{stream}`.
    func stream(_ name: StreamName, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        _ = try Query(request, known: [])
        guard name.loop < core.peers.count else { throw Self.noStream }
        let method = request.method
        var wish: PathsWish?
        if method == .patch {
            wish = try PathsWish(body: request.body, contentType: request.headers["content-type"])
        }
        let paths = wish?.paths ?? []
        onLoop(name.loop) { loop in
            do throws(Problem) {
                guard let connection = loop.connections[name.connection],
                    let description = loop.streams.description(of: connection), description.name == name
                else { throw Self.noStream }
                switch method {
                case .delete:
                    loop.streams.close(connection, because: .revoked)
                    loop.send(Response(.noContent), to: exchange)
                case .patch:
                    try loop.watch(paths, on: connection, description, exchange)
                default:
                    loop.send(.json(description.json), to: exchange)
                }
            } catch {
                loop.send(Response(error), to: exchange)
            }
        }
    }

    private static var noStream: Problem {
        Problem(.streamNotFound, "there is no such stream; it has ended, or its client has reconnected, which makes another")
    }

    /// Gives a stream other paths: its next event is a snapshot of these.
    private func watch(
        _ texts: [String],
        on connection: ClientConnection,
        _ stream: StreamDescription,
        _ exchange: Exchange
    ) throws(Problem) {
        guard case .session(let key, let topic) = stream.source else {
            throw Problem(.streamWithoutPaths, "a stream of a store or a value has no paths; open a stream of a session or a view")
        }
        let paths = PathSet(try paths(texts)).pointers
        let new = StreamTopic(
            view: topic.view,
            paths: paths,
            format: topic.format,
            interval: topic.interval,
            isRepathed: true
        )
        try check(new, of: try app(key.app))
        streams.watch(new, of: key, on: connection)
        send(.json(Self.answer(stream.name, paths)), to: exchange)
    }

    private static func answer(_ name: StreamName, _ paths: [JSONPointer]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("stream")
        writer.string(name.description)
        writer.key("paths")
        writer.beginArray()
        for path in paths { writer.string(path.description) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}

/// `{"paths":[…]}`: what a stream is to watch from now on.
private struct PathsWish: Sendable {
    let paths: [String]

    init(body: [UInt8], contentType: String?) throws(Problem) {
        try JSONBody.checkType(contentType)
        do throws(JSONError) {
            var paths: [String]?
            var reader = JSONReader(body)
            reader.unknownKeys = .reject
            try reader.object { key, reader throws(JSONError) in
                guard key == "paths" else { return try reader.unknownKey(key) }
                var texts: [String] = []
                try reader.array { _, reader throws(JSONError) in texts.append(try reader.string()) }
                paths = texts
            }
            try reader.finish()
            guard let paths else {
                throw JSONError(kind: .missing, detail: "\"paths\" is missing: an array of key paths")
            }
            self.paths = paths
        } catch {
            throw Problem(JSONReader.gravestFault(of: body, after: error))
        }
    }
}
