import RivuletHTTP
import RivuletJSON
import RivuletSessions
import RivuletStores

/// A value that all sessions share: reading and changing it.
struct ValueEndpoint {
    let server: ServerLoop

    /// GET, PUT and DELETE of a value.
    ///
    /// Source: <Documentation/HTTP.md#stores-values-and-secrets>.
    func value(_ shared: SharedName, _ request: HTTPRequest, _ permit: Permit, _ exchange: Exchange) throws(Problem) {
        let value = try server.core.lookup.value(shared)
        _ = try Query(request, known: [])
        let epoch = server.context.epoch(of: shared)
        switch request.method {
        case .put:
            try JSONBody.checkType(request.headers["content-type"])
            let expected = try SharedCursor.expected(of: request, epoch: epoch)
            value.set(request.body, expected: expected, reply: changed(request, permit, exchange, epoch))
        case .delete:
            let expected = try SharedCursor.expected(of: request, epoch: epoch)
            value.reset(expected: expected, reply: changed(request, permit, exchange, epoch))
        default:
            let condition = request.tags("if-none-match")
            value.read(
                server.reply(to: exchange, epoch) { answer in
                    let tag = "\"\(SharedCursor(epoch: epoch, version: answer.version))\""
                    return .json(answer.json, fields: Response.fields(answer.version, epoch: epoch))
                        .reading(tag: tag, unless: condition)
                }
            )
        }
    }

    /// POST that inverts a boolean value.
    func toggle(_ shared: SharedName, _ request: HTTPRequest, _ permit: Permit, _ exchange: Exchange) throws(Problem) {
        let value = try server.core.lookup.value(shared)
        _ = try Query(request, known: [])
        guard value.isBool else {
            throw Problem(
                .notFound,
                "the value \"\(shared.name)\" is neither true nor false and cannot be toggled; PUT sets it"
            )
        }
        let epoch = server.context.epoch(of: shared)
        let expected = try SharedCursor.expected(of: request, epoch: epoch)
        value.toggle(expected: expected, reply: changed(request, permit, exchange, epoch))
    }

    private func changed(
        _ request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange,
        _ epoch: String
    ) -> SharedReply<ValueAnswer> {
        let showsValue = permit.readsValue
        return server.reply(to: exchange, epoch, showsValue: showsValue) { answer in
            let fields = Response.fields(answer.version, epoch: epoch)
            guard showsValue else { return Response(.noContent, fields: fields) }
            return Response.json(answer.json, fields: fields).minimal(if: request)
        }
    }
}
