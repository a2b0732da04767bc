import RivuletAccess
import RivuletHTTP
import RivuletJSON
import RivuletSessions
import RivuletStores

/// A store and its items: reading and changing them.
struct StoreEndpoint {
    let server: ServerLoop

    /// GET, POST and DELETE of a store.
    ///
    /// Source: <Documentation/HTTP.md#stores-values-and-secrets>.
    func store(_ shared: SharedName, _ request: HTTPRequest, _ permit: Permit, _ exchange: Exchange) throws(Problem) {
        let store = try server.core.lookup.store(shared)
        let isReading = request.method == .get || request.method == .head
        // The ids of inserted and removed items are known too late for a caller that may change some items only.
        if !isReading { try permit.checkAllItems(.write, of: shared) }
        let showsItems = permit.readableItems.isAll
        switch request.method {
        case .post: try insert(into: store, shared, request, showsItems, exchange)
        case .delete: try removeAll(of: store, shared, request, showsItems, exchange)
        default: try list(store, shared, request, permit.items, exchange)
        }
    }

    private func list(
        _ store: any HostedStore,
        _ shared: SharedName,
        _ request: HTTPRequest,
        _ items: ItemMask,
        _ exchange: Exchange
    ) throws(Problem) {
        let query = try Query(request, known: ["after", "limit"])
        let limit = try query.integer("limit", in: 1...1_000) ?? 100
        let condition = request.tags("if-none-match")
        let epoch = server.context.epoch(of: shared)
        store.read(
            after: query["after"],
            limit: limit,
            among: items,
            reply: server.reply(to: exchange, epoch) { page in
                let cursor = SharedCursor(epoch: epoch, version: page.version)
                let tag = ContentTag.masked("\"\(cursor)\"", by: items.name)
                return .json(page.json, fields: Response.fields(tag: tag, version: page.version))
                    .reading(tag: tag, unless: condition)
            }
        )
    }

    private func insert(
        into store: any HostedStore,
        _ shared: SharedName,
        _ request: HTTPRequest,
        _ showsItems: Bool,
        _ exchange: Exchange
    ) throws(Problem) {
        _ = try Query(request, known: [])
        try JSONBody.checkType(request.headers["content-type"])
        let epoch = server.context.epoch(of: shared)
        store.insert(
            request.body,
            expected: try SharedCursor.expected(of: request, epoch: epoch),
            reply: server.reply(to: exchange, epoch, showsValue: showsItems) { answer in
                let response = Self.response(to: answer, in: shared, epoch: epoch)
                return response.minimal(if: request)
            }
        )
    }

    private func removeAll(
        of store: any HostedStore,
        _ shared: SharedName,
        _ request: HTTPRequest,
        _ showsItems: Bool,
        _ exchange: Exchange
    ) throws(Problem) {
        _ = try Query(request, known: [])
        let epoch = server.context.epoch(of: shared)
        store.removeAll(
            expected: try SharedCursor.expected(of: request, epoch: epoch),
            reply: server.reply(to: exchange, epoch, showsValue: showsItems) { answer in
                Response(.noContent, fields: Response.fields(answer.outcome.version, epoch: epoch))
            }
        )
    }

    /// POST of several operations, which are one transaction.
    ///
    /// Source: <Documentation/HTTP.md#stores-values-and-secrets>, <Tests/Rows/Systems.md#e-16>.
    func performOperations(
        on shared: SharedName,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        try permit.checkAllItems(.write, of: shared)
        let store = try server.core.lookup.store(shared)
        _ = try Query(request, known: [])
        try JSONBody.checkType(request.headers["content-type"])
        let epoch = server.context.epoch(of: shared)
        store.perform(
            request.body,
            expected: try SharedCursor.expected(of: request, epoch: epoch),
            reply: server.reply(to: exchange, epoch, showsValue: permit.readableItems.isAll) { answer in
                Self.response(to: answer, in: shared, epoch: epoch).minimal(if: request)
            }
        )
    }

    // MARK: - Items

    /// GET, PUT and DELETE of an item.
    func item(
        _ id: String,
        of shared: SharedName,
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) {
        let store = try server.core.lookup.store(shared)
        try permit.check(item: store.canonical(id), of: shared, request.method)
        let showsItem = permit.readableItems.contains(store.canonical(id))
        _ = try Query(request, known: [])
        let epoch = server.context.epoch(of: shared)
        switch request.method {
        case .put:
            try JSONBody.checkType(request.headers["content-type"])
            store.put(
                request.body,
                under: id,
                if: try Self.condition(request),
                reply: server.reply(to: exchange, epoch, showsValue: showsItem) { answer in
                    Self.response(to: answer, in: shared, epoch: epoch).minimal(if: request)
                }
            )
        case .delete:
            store.remove(
                id,
                if: try Self.condition(request),
                reply: server.reply(to: exchange, epoch, showsValue: showsItem) { answer in
                    Response(.noContent, fields: [HTTPField("Rivulet-Version", "\(answer.outcome.version)")])
                }
            )
        default:
            let condition = request.tags("if-none-match")
            store.read(
                id,
                reply: server.reply(to: exchange, epoch) { item in
                    let tag = "\"\(item.tag)\""
                    return .json(item.json, fields: [HTTPField("ETag", tag)]).reading(tag: tag, unless: condition)
                }
            )
        }
    }

    /// The request's condition on the item.
    ///
    /// `If-Match` ignores weak tags, because its comparison is strong.
    ///
    /// Source: RFC 9110 §8.8.3.2, §13.1.1, §13.1.2.
    private static func condition(_ request: HTTPRequest) throws(Problem) -> ItemCondition {
        ItemCondition(
            match: try tags(request, "If-Match", takesWeak: false),
            noneMatch: try tags(request, "If-None-Match", takesWeak: true)
        )
    }

    private static func tags(
        _ request: HTTPRequest,
        _ name: String,
        takesWeak: Bool
    ) throws(Problem) -> ItemCondition.Tags? {
        guard let field = request.tags(name.lowercased()) else { return nil }
        if field == "*" { return .any }
        guard let tags = HTTPEntityTag.list(field), !tags.isEmpty else {
            throw Problem(
                .invalidCondition,
                "\(name) takes tags in quotes, as an answer's ETag has them, or *; found \(field)"
            )
        }
        return .some(
            tags.compactMap { tag in
                guard tag.hasPrefix("W/") else { return String(tag.dropFirst().dropLast()) }
                return takesWeak ? String(tag.dropFirst(3).dropLast()) : nil
            }
        )
    }

    // MARK: - Answers

    /// The answer to a change: the item if the request had a single one, and otherwise the outcome.
    private static func response(to answer: StoreAnswer, in shared: SharedName, epoch: String) -> Response {
        let (outcome, version) = (answer.outcome, answer.outcome.version)
        guard let item = answer.item else {
            return .json(outcome.json(epoch: epoch), fields: Response.fields(version, epoch: epoch))
        }
        var fields = [HTTPField("ETag", "\"\(item.tag)\""), HTTPField("Rivulet-Version", "\(version)")]
        guard outcome.inserted > 0 else { return .json(item.json, fields: fields) }
        let path = "/v1/apps/\(shared.app)/stores/\(shared.name)/\(PercentCoding.encoded(item.id))"
        fields.append(HTTPField("Location", path))
        return .json(item.json, status: .created, fields: fields)
    }
}

extension StoreOutcome {
    /// The document `{"version":v,"cursor":…,"inserted":…,"replaced":…,"removed":…}`.
    fileprivate func json(epoch: String) -> [UInt8] {
        var writer = JSONWriter(capacity: 128)
        writer.beginObject()
        writer.key("version")
        writer.integer(version)
        writer.key("cursor")
        writer.string("\(SharedCursor(epoch: epoch, version: version))")
        for (name, count) in [("inserted", inserted), ("replaced", replaced), ("removed", removed)] {
            writer.key(name)
            writer.integer(count)
        }
        writer.endObject()
        return writer.bytes
    }
}
