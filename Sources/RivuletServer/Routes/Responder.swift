import RivuletEngine
import RivuletEventLoop
import RivuletSessions

/// The place to which the answer to a request goes, for answers that are made later or on another loop.
///
/// One connection has one request under way, so the connection names it.
struct Exchange: Hashable, Sendable {
    /// The loop that the connection lives on.
    let loop: Int
    let connection: ConnectionID
}

/// Sends the answer to a request, from whatever loop makes it.
struct Responder {
    /// The loop that makes the answer.
    let server: ServerLoop
    let exchange: Exchange

    func send(_ response: Response) { server.send(response, to: exchange) }

    /// Sends the response that a result becomes.
    func send<Value>(_ result: Result<Value, SessionError>, _ response: (Value) -> Response) {
        switch result {
        case .success(let value): send(response(value))
        case .failure(let error): send(Response(refusing: error))
        }
    }

    /// The reply for storage, which calls it once, on any thread: the response is made and sent on this loop.
    func later<Value: Sendable>(
        _ response: @escaping @Sendable (Value) -> Response
    ) -> @Sendable (_ value: Value) -> Void {
        let confined = Confined(self, to: server.core.loop)
        return { value in confined.post { $0.send(response(value)) } }
    }
}

extension ServerLoop {
    /// Runs the job of a request on a loop; 503 where the loop's mailbox is full.
    func onLoop(_ index: Int, for exchange: Exchange, _ job: @escaping @Sendable (ServerLoop) -> Void) {
        guard !core.onLoop(index, job) else { return }
        send(Response(refusing: .overloaded("mailbox of a loop")), to: exchange)
    }

    /// Sends the answer to the request under way, from the loop that it was made on.
    func send(_ response: Response, to exchange: Exchange) {
        guard exchange.loop == core.index else { return core.post(response, to: exchange) }
        if let connection = connections[exchange.connection] { connections.answer(connection, response) }
    }
}
