// Owns the reading and changing of stored values and secrets over HTTP.

import RivuletHTTP
import RivuletJSON
import RivuletStores

extension ServerLoop {
    /// GET, PUT and DELETE of a value.
    ///
    /// Source: <Documentation/HTTP.md#stores-values-and-secrets>.
    func value(_ key: SharedKey, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let value = try core.value(key)
        _ = try Query(request, known: [])
        let epoch = context.epoch(of: key)
        switch request.method {
        case .put:
            try JSONBody.checkType(request.headers["content-type"])
            let expected = try Self.expectedVersions(request, epoch)
            value.set(request.body, expected: expected, reply: changed(request, exchange, epoch))
        case .delete:
            let expected = try Self.expectedVersions(request, epoch)
            value.reset(expected: expected, reply: changed(request, exchange, epoch))
        default:
            let condition = request.tags("if-none-match")
            value.read(
                reply(to: exchange, epoch) { answer in
                    let tag = "\"\(SharedCursor(epoch: epoch, version: answer.version))\""
                    return .json(answer.json, fields: Self.fields(answer.version, epoch: epoch))
                        .reading(tag: tag, unless: condition)
                }
            )
        }
    }

    /// POST that makes true of false and false of true.
    func toggle(_ key: SharedKey, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let value = try core.value(key)
        _ = try Query(request, known: [])
        guard value.isBool else {
            throw Problem(
                .notFound,
                "the value \"\(key.name)\" is neither true nor false and cannot be toggled; PUT sets it"
            )
        }
        let epoch = context.epoch(of: key)
        let expected = try Self.expectedVersions(request, epoch)
        value.toggle(expected: expected, reply: changed(request, exchange, epoch))
    }

    private func changed(
        _ request: HTTPRequest,
        _ exchange: Exchange,
        _ epoch: String
    ) -> SharedReply<ValueAnswer> {
        reply(to: exchange, epoch) { answer in
            Response.json(answer.json, fields: Self.fields(answer.version, epoch: epoch)).minimal(if: request)
        }
    }

    // MARK: - Secrets

    /// PUT and DELETE of a secret; GET tells whether there is one.
    func secret(_ name: String, of app: String, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let secret = try core.secret(name, of: app)
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
            secret.set(request.body, reply: reply(to: exchange, nil) { Response(.noContent) })
        case .delete: secret.remove(reply(to: exchange, nil) { Response(.noContent) })
        default:
            secret.read(
                reply(to: exchange, nil) { presence in
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
