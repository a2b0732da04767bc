import RivuletHTTP
import RivuletSessions

/// A secret: setting it, removing it, and reading if it is set.
struct SecretEndpoint {
    let server: ServerLoop

    /// PUT and DELETE of a secret; GET answers if it is set.
    func secret(_ name: String, of app: String, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
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
            secret.set(request.body, reply: server.reply(to: exchange, nil) { Response(.noContent) })
        case .delete: secret.remove(server.reply(to: exchange, nil) { Response(.noContent) })
        default:
            secret.read(
                server.reply(to: exchange, nil) { presence in
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
