// Owns listening and accepting, which is bounded per turn and pauses when the system refuses.

internal import CLibuv

extension EventLoop {
    /// Listens for TCP connections, from the first turn of `run` on.
    ///
    /// For several loops on one port use `ListenerGroup`, which detects a port that another program holds.
    ///
    /// - Parameters:
    ///   - host: An IPv4 or IPv6 address, or "localhost", which is 127.0.0.1; other names are not resolved.
    ///   - port: The port; 0 takes a free one.
    ///   - backlog: The number of connections that wait in the kernel, at most net.core.somaxconn.
    ///   - reusePort: True if other sockets with this option may share the port (SO_REUSEPORT).
    /// - Returns: The port.
    /// - Throws: The failing call with "host:port", such as "bind 127.0.0.1:80: EACCES permission denied".
    @discardableResult
    package func listen(
        host: String,
        port: UInt16,
        backlog: Int = 4_096,
        reusePort: Bool = false
    ) throws(LoopError) -> UInt16 {
        try listen(on: ListeningSocket(host: host, port: port, backlog: backlog, sharesPort: reusePort))
    }

    /// Accepts no more connections; the kernel resets those that wait in the backlog.
    package func stopListening() {
        for listener in state.listeners { listener.close() }
        state.listeners = []
    }

    func listen(on socket: consuming ListeningSocket) throws(LoopError) -> UInt16 {
        assertOnLoop()
        let port = socket.port
        state.listeners.append(try Listener(socket: socket, loop: self))
        return port
    }

    /// Accepts waiting connections, at most `acceptsPerTurnMax`; the watch is level-triggered, so the next turn
    /// continues.
    func accept(from listener: Listener) {
        for _ in 0..<limits.acceptsPerTurnMax {
            do throws(LoopError) {
                guard let (descriptor, peer) = try listener.socket.accept() else { return }
                open(descriptor, peer)
            } catch {
                listener.rest()
                schedule(after: limits.acceptPause) { [weak listener] in listener?.start() }
                state.delegate?.loopDidRefuseConnection(.failed(error))
                return
            }
        }
    }
}
