import RivuletHTTP
import RivuletSessions

/// The resources of the server as a whole: its health, and its description.
struct ServerEndpoint {
    let server: ServerLoop

    /// GET /healthz.
    func health(_ exchange: Exchange) {
        server.send(.json(Array(#"{"status":"ok"}"#.utf8)), to: exchange)
    }

    /// GET /readyz: ready if storage answers and the server is not draining.
    ///
    /// A node of a cluster is ready if it has also applied the log of its cluster.
    func readiness(_ exchange: Exchange) {
        guard !server.core.isDraining else {
            return server.send(Response(refusing: SessionError.draining), to: exchange)
        }
        if let reason = server.context.cluster?.unreadiness(now: MonotonicClock.milliseconds()) {
            let problem = Problem(.notReady, "\(reason); try again", fields: [HTTPField("Retry-After", "1")])
            return server.send(Response(problem), to: exchange)
        }
        // Only the owner writes, and the probe is a write.
        guard server.context.cluster?.isServing ?? true else {
            return server.send(.json(Array(#"{"status":"ready"}"#.utf8)), to: exchange)
        }
        let responder = Responder(server: server, exchange: exchange)
        server.context.storage.lifecycle.probe(
            reply: responder.later { result in
                switch result {
                case .success: return .json(Array(#"{"status":"ready"}"#.utf8))
                case .failure(let error):
                    var problem = Problem(error)
                    problem.type = .notReady
                    return Response(problem, cause: error)
                }
            }
        )
    }

    /// GET /openapi.json.
    func openAPI(_ request: HTTPRequest, _ exchange: Exchange) {
        server.send(FileAnswer(server.context.openAPI, request).wholeResponse, to: exchange)
    }
}
