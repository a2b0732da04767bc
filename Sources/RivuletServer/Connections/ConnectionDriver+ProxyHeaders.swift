import RivuletEventLoop
import RivuletHTTP

extension ConnectionDriver {
    /// Expects the header of a new connection, within the time of a request's head.
    func expectHeader(of connection: ClientConnection, in headers: ProxyHeaders) {
        guard context.doors.trusts(connection.address) else { return refuse(connection, .untrusted) }
        headers.expect(from: connection.id)
        limit(connection, until: now + context.httpLimits.headMilliseconds)
    }

    func readHeader(_ bytes: Span<UInt8>, of connection: ClientConnection, in headers: ProxyHeaders) {
        switch headers.take(bytes, from: connection.id) {
        case .wait: break
        case .refuse: refuse(connection, .malformed)
        case .begin(let client, let rest):
            if let client {
                // The proxy's own address is not counted, so the client's address is counted from here on.
                guard admit(client) else {
                    core.counters.connectionRefused(.limit)
                    return core.transport.close(connection.id, .local)
                }
                connection.replaceAddress(with: client)
            }
            connection.disarm()
            armDeadline(connection)
            if !rest.isEmpty { didReceive(rest.span, on: connection) }
        }
    }

    /// Closes a connection without an answer, because its peer cannot be believed to speak HTTP.
    func refuse(_ connection: ClientConnection, _ reason: ProxyHeaders.RefusalReason) {
        core.counters.connectionRefused(.proxyHeader)
        context.explainOnce(reason)
        core.transport.close(connection.id, .local)
    }
}
