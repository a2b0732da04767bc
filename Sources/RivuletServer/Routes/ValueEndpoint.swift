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
    func value(_ key: SharedKey, _ request: HTTPRequest, _ connection: ClientConnection) throws(Problem) {
        let value = try server.core.lookup.value(key)
        _ = try Query(request, known: [])
        let epoch = server.context.epoch(of: key)
        switch request.method {
        case .put:
            try JSONBody.checkType(request.headers["content-type"])
            let expected = try SharedCursor.expected(of: request, epoch: epoch)
            value.set(request.body, expected: expected, reply: changed(request, connection, epoch))
        case .delete:
            let expected = try SharedCursor.expected(of: request, epoch: epoch)
            value.reset(expected: expected, reply: changed(request, connection, epoch))
        default:
            let condition = request.tags("if-none-match")
            value.read(
                server.reply(to: connection, epoch) { answer in
                    let tag = "\"\(SharedCursor(epoch: epoch, version: answer.version))\""
                    return .json(answer.json, fields: Response.fields(answer.version, epoch: epoch))
                        .reading(tag: tag, unless: condition)
                }
            )
        }
    }

    /// POST that makes true of false and false of true.
    func toggle(_ key: SharedKey, _ request: HTTPRequest, _ connection: ClientConnection) throws(Problem) {
        let value = try server.core.lookup.value(key)
        _ = try Query(request, known: [])
        guard value.isBool else {
            throw Problem(
                .notFound,
                "the value \"\(key.name)\" is neither true nor false and cannot be toggled; PUT sets it"
            )
        }
        let epoch = server.context.epoch(of: key)
        let expected = try SharedCursor.expected(of: request, epoch: epoch)
        value.toggle(expected: expected, reply: changed(request, connection, epoch))
    }

    private func changed(
        _ request: HTTPRequest,
        _ connection: ClientConnection,
        _ epoch: String
    ) -> SharedReply<ValueAnswer> {
        server.reply(to: connection, epoch) { answer in
            Response.json(answer.json, fields: Response.fields(answer.version, epoch: epoch)).minimal(if: request)
        }
    }
}

/// A secret: setting and removing it, and whether there is one.
struct SecretEndpoint {
    let server: ServerLoop

    /// PUT and DELETE of a secret; GET tells whether there is one.
    func secret(_ name: String, of app: String, _ request: HTTPRequest, _ connection: ClientConnection) throws(Problem)
    {
        let secret = try server.core.lookup.secret(name, of: app)
        _ = try Query(request, known: [])
        guard request.headers["if-match"] == nil, request.headers["if-none-match"] == nil else {
            throw Problem(
                .invalidCondition,
                "a secret has no tag that a condition could name; send no If-Match and no If-None-Match"
            )
        }
        switch request.method {
        case .put:
            try JSONBody.checkType(request.headers["content-type"])
            secret.set(request.body, reply: server.reply(to: connection, nil) { Response(.noContent) })
        case .delete: secret.remove(server.reply(to: connection, nil) { Response(.noContent) })
        default:
            secret.read(
                server.reply(to: connection, nil) { presence in
                    switch presence {
                    case .absent: .json(Array(#"{"set":false}"#.utf8))
                    case .present: .json(Array(#"{"set":true}"#.utf8))
                    case .unreadable: .json(Array(#"{"set":true,"readable":false}"#.utf8))
                    }
                }
            )
        }
    }
}
