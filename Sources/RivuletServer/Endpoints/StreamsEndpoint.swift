import RivuletAccess
import RivuletAuth
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// The list of open streams, and one stream of it.
struct StreamsEndpoint {
    let server: ServerLoop

    // MARK: - All

    /// GET of `/v1/streams`: the streams of all loops, loop by loop.
    func list(_ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let query = try Query(request, known: ["after", "limit"])
        let limit = try query.integer("limit", in: 1...1_000) ?? 100
        var after: StreamName?
        if let text = query["after"] {
            after = StreamName(text)
            guard after != nil else {
                throw Problem(.invalidQuery, "\"after\" is the name of a stream; found \"\(text)\"")
            }
            guard after?.node == server.context.node else {
                throw Problem(
                    .invalidQuery,
                    "\"after\" is the name of a stream of another node, which has the rest of its list; ask that node"
                )
            }
        }
        server.collect(StreamPage(limit: limit, after: after), from: after?.loop ?? 0, for: exchange)
    }

    // MARK: - One

    /// GET, PATCH and DELETE of `/v1/streams/{stream}`.
    func stream(
        _ name: StreamName,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        _ = try Query(request, known: [])
        guard name.node == server.context.node, name.loop < server.core.peers.count else { throw Self.noStream }
        let method = request.method
        var change: StreamChange?
        if method == .patch {
            change = try StreamChange(body: request.body, contentType: request.headers["content-type"])
        }
        server.onLoop(name.loop, for: exchange) { [change] server in
            do throws(Problem) {
                guard let connection = server.connections[name.connection],
                    let description = server.streams.description(of: connection), description.name == name
                else { throw Self.noStream }
                let endpoint = StreamsEndpoint(server: server)
                if case .renewal = change {
                    return try endpoint.renew(connection, with: permit, description.name, exchange)
                }
                try permit.check(connection.stream?.facts.credential?.identity)
                if case .paths(let paths) = change {
                    try endpoint.watch(paths, on: connection, description, exchange)
                } else if method == .delete {
                    server.streams.close(connection, because: .revoked)
                    server.send(Response(.noContent), to: exchange)
                } else {
                    server.send(.json(description.json), to: exchange)
                }
            } catch {
                server.send(Response(error), to: exchange)
            }
        }
    }

    private static var noStream: Problem {
        Problem(
            .streamNotFound,
            "there is no such stream; it has ended, or its client has reconnected, which makes another stream"
        )
    }

    /// Sets other paths for a stream; its next event is a snapshot of these.
    private func watch(
        _ texts: [String],
        on connection: ClientConnection,
        _ stream: StreamDescription,
        _ exchange: Exchange
    ) throws(Problem) {
        guard case .session(let key, let topic) = stream.source else {
            throw Problem(
                .streamWithoutPaths,
                "a stream of a store or a value has no paths; open a stream of a session or a view"
            )
        }
        let paths = PathSet(try server.context.streamPaths(texts)).pointers
        let asked = StreamTopic(
            view: topic.view,
            paths: paths,
            format: topic.format,
            interval: topic.interval,
            isRepathed: true
        )
        // The stream's own caller gets the events, also if an operator sets the paths. A reload may have come since the
        // stream was decided.
        let credential = connection.stream?.facts.credential
        let owner = try credential.map { credential throws(Problem) in
            let identity = try server.core.identify(again: credential.identity)
            return Permit.limited(CallerPermit(identity, access: server.context.access(of: identity, to: key)))
        }
        let (new, isMasked) = try (owner ?? .everything).topic(
            asked,
            of: key,
            pathsMax: server.context.options.sessionLimits.pathsPerStreamMax
        )
        try server.core.lookup.app(key.app).check(asked)
        credential?.asked = isMasked ? asked : nil
        server.streams.watch(new, of: key, on: connection)
        let fields = isMasked ? [Response.isMasked] : []
        server.send(.json(Self.answer(stream.name, new.paths), fields: fields), to: exchange)
    }

    /// Gives a stream a newer credential of its caller: that of this request.
    ///
    /// - Throws: 401 or 403 for another caller, and for a credential that grants nothing of the stream.
    private func renew(
        _ connection: ClientConnection,
        with permit: Permit,
        _ name: StreamName,
        _ exchange: Exchange
    ) throws(Problem) {
        let credential = connection.stream?.facts.credential
        if case .limited(let limited) = permit {
            let (identity, owner) = (limited.identity, credential?.identity)
            guard identity.principal != nil else { throw .credentialMissing }
            guard owner?.principal != nil, identity.caller.me == owner?.caller.me else { throw .otherCaller }
            try server.review.renew(connection, with: identity)
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("stream")
        writer.string(name.description)
        writer.key("expires")
        if let expires = credential?.identity.expires { writer.string(expires) } else { writer.null() }
        writer.endObject()
        let fields = credential?.asked == nil ? [] : [Response.isMasked]
        server.send(.json(writer.bytes, fields: fields), to: exchange)
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

extension ServerLoop {
    /// Adds a loop's streams to the page, and continues with the next loop or answers.
    fileprivate func collect(_ page: StreamPage, from index: Int, for exchange: Exchange) {
        guard index < core.peers.count, !page.isFull else { return send(.json(page.json), to: exchange) }
        onLoop(index, for: exchange) { server in
            var page = page
            for description in server.streams.descriptions where page.wants(description.name) {
                page.add(description)
                if page.isFull { break }
            }
            server.collect(page, from: index + 1, for: exchange)
        }
    }
}

/// The body of a PATCH: `{"paths":[…]}`, the paths that a stream watches from now on, or `{"renew":true}`.
private enum StreamChange: Sendable {
    case paths([String])
    /// The credential of the request replaces that of the stream.
    case renewal

    init(body: [UInt8], contentType: String?) throws(Problem) {
        try JSONBody.checkType(contentType)
        do throws(JSONError) {
            var paths: [String]?
            var renews = false
            var reader = JSONReader(body)
            reader.unknownKeys = .reject
            try reader.object { key, reader throws(JSONError) in
                switch key {
                case "paths":
                    var texts: [String] = []
                    try reader.array { _, reader throws(JSONError) in texts.append(try reader.string()) }
                    paths = texts
                case "renew": renews = try reader.bool()
                default: try reader.unknownKey(key)
                }
            }
            try reader.finish()
            switch (paths, renews) {
            case (let paths?, false): self = .paths(paths)
            case (nil, true): self = .renewal
            case (nil, false), (_?, true):
                let detail = "one of \"paths\", an array of key paths, and \"renew\": true is needed"
                throw JSONError(kind: .missing, detail: detail)
            }
        } catch {
            throw Problem(JSONReader.mostSevereError(of: body, after: error))
        }
    }
}

extension Problem {
    /// 403: only the caller of a stream renews its credential.
    fileprivate static var otherCaller: Problem {
        Problem(
            .notGranted,
            "The stream belongs to another caller, and only its own caller renews its credential. Nothing has changed.",
            fields: [HTTPField("WWW-Authenticate", #"Bearer error="insufficient_scope""#)]
        )
    }
}
