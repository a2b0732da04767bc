package import RivuletEventLoop

/// The loop of a node's cluster: its NATS connection, and the short requests to the servers' monitors.
///
/// All calls on connections, logs, records and buses are made on this loop, and reply there.
package final class NATSLoop: LoopDelegate, @unchecked Sendable {
    // SAFETY: all state is used on the loop's thread only, or before the loop runs; `EventLoop` checks that.

    package let loop: EventLoop
    private var handlers: [ConnectionID: any NATSLoopHandler] = [:]
    private var flushes: [() -> Void] = []

    /// Makes a loop that does nothing until `start`.
    ///
    /// - Throws: `EMFILE` or `ENOMEM`.
    package init(index: Int) throws(LoopError) { loop = try EventLoop(index: index) }

    /// Starts the loop on a thread of its own.
    ///
    /// - Throws: `EAGAIN` if the system cannot create a thread.
    package func start() throws(LoopError) -> LoopThread {
        loop.setDelegate(self)
        return try LoopThread(running: loop)
    }

    /// Runs a job later in this turn, so that a reply does not come within a call.
    func afterCall(_ job: @escaping () -> Void) { flushes.append(job) }

    /// Connects to a host; the handler gets the events of the connection.
    func connect(
        host: String,
        port: UInt16,
        within time: Duration,
        handler: any NATSLoopHandler,
        reply: @escaping (Result<ConnectionID, LoopError>) -> Void
    ) {
        loop.connect(host: host, port: port, within: time) { [unowned self] result in
            if case .success(let id) = result { handlers[id] = handler }
            reply(result)
        }
    }

    package func connectionDidOpen(_ id: ConnectionID, peer: PeerAddress) {}

    package func connection(_ id: ConnectionID, didReceive bytes: Span<UInt8>) {
        handlers[id]?.didReceive(bytes, from: id)
    }

    package func connectionDidEnd(_ id: ConnectionID) { handlers[id]?.didEnd(id) }

    package func connectionDidDrain(_ id: ConnectionID) {}

    package func connectionDidClose(_ id: ConnectionID, reason: CloseReason) {
        handlers.removeValue(forKey: id)?.didClose(id, reason: reason)
    }

    package func loopWillSleep() -> Bool {
        let jobs = exchange(&flushes, with: [])
        for job in jobs { job() }
        return !flushes.isEmpty
    }

    package func loopDidRefuseConnection(_ error: AcceptError) {}
}

/// The receiver of the events of one connection.
protocol NATSLoopHandler: AnyObject {
    func didReceive(_ bytes: Span<UInt8>, from id: ConnectionID)
    /// The peer has ended its side.
    func didEnd(_ id: ConnectionID)
    /// The last event of the connection.
    func didClose(_ id: ConnectionID, reason: CloseReason)
}
