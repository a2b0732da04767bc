import RivuletEngine
import RivuletEventLoop
import RivuletSessions

/// The destination of the answer to a request, for answers that are made later or on another loop.
///
/// One connection has one request under way, so the connection identifies the request.
struct Exchange: Hashable, Sendable {
    /// The loop of the connection.
    let loop: Int
    let connection: ConnectionID
}

/// Sends the answer to a request, from the loop that makes it.
struct Responder {
    /// The loop that makes the answer.
    let server: ServerLoop
    let exchange: Exchange

    func send(_ response: Response) { server.send(response, to: exchange) }

    /// Sends the response that is made from a result.
    func send<Value>(_ result: Result<Value, SessionError>, _ response: (Value) -> Response) {
        switch result {
        case .success(let value): send(response(value))
        case .failure(let error): send(Response(refusing: error))
        }
    }

    /// Returns a function that runs a job on this loop; any thread may call it.
    var onLoop: @Sendable (_ job: @escaping @Sendable (Responder) -> Void) -> Void {
        let loopBound = LoopBound(self, to: server.core.loop)
        return { job in loopBound.postReply { job($0) } }
    }

    /// Returns the reply closure for storage; the response is made and sent on this loop.
    ///
    /// Storage calls the closure once, on any thread.
    func later<Value: Sendable>(
        _ response: @escaping @Sendable (Value) -> Response
    ) -> @Sendable (_ value: Value) -> Void {
        let loopBound = LoopBound(self, to: server.core.loop)
        return { value in loopBound.postReply { $0.send(response(value)) } }
    }
}

extension ServerLoop {
    /// Runs the job of a request on a loop; answers 503 if the loop's mailbox is full.
    func onLoop(_ index: Int, for exchange: Exchange, _ job: @escaping @Sendable (ServerLoop) -> Void) {
        guard !core.onLoop(index, job) else { return }
        send(Response(refusing: .overloaded("mailbox of a loop")), to: exchange)
    }

    /// Sends the answer to the request under way, from the loop on which it was made.
    func send(_ response: Response, to exchange: Exchange) {
        guard exchange.loop == core.index else { return core.post(response, to: exchange) }
        if let connection = connections[exchange.connection] {
            connections.answer(connection, response)
        } else {
            peers?.answer(exchange.connection, response)
        }
    }
}
