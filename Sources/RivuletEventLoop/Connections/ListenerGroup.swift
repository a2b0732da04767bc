/// Functions that bind one port or one Unix socket for several loops; the kernel distributes connections over them.
package enum ListenerGroup {
    /// Listens on `host:port` with every loop; if one loop cannot listen, none does.
    ///
    /// Call this before the loops run.
    ///
    /// SO_REUSEPORT would let this process silently share a port with an older process of the same user. So the port is
    /// first bound without this option, and released. Before the loops bind the port, another program could take it. If
    /// that program sets SO_REUSEPORT too, the conflict is not detected.
    ///
    /// - Parameters:
    ///   - host: An IPv4 or IPv6 address, or "localhost".
    ///   - port: The port; 0 takes a free port, the same for all loops.
    ///   - loops: The loops, at least one.
    ///   - backlog: The number of connections that wait in the kernel, per loop.
    /// - Returns: The port.
    /// - Throws: The failing call with "host:port": "bind 127.0.0.1:8080: EADDRINUSE address already in use".
    @discardableResult
    package static func bind(
        host: String,
        port: UInt16,
        loops: [EventLoop],
        backlog: Int = 4_096
    ) throws(LoopError) -> UInt16 {
        guard loops.count > 1 else {
            guard let loop = loops.first else { preconditionFailure("no loop to listen with on \(host):\(port)") }
            return try loop.listen(host: host, port: port, backlog: backlog)
        }
        let freePort = try probe(host: host, port: port)
        do throws(LoopError) {
            for loop in loops {
                try loop.listen(host: host, port: freePort, backlog: backlog, reusePort: true)
            }
        } catch {
            for loop in loops { loop.stopListening() }
            throw error
        }
        return freePort
    }

    /// Listens on a Unix socket with every loop; if one loop cannot listen, none does.
    ///
    /// Call this before the loops run. The loops share the socket: a connection wakes all idle loops, and the first one
    /// takes it. A file that an earlier server left at the path is replaced if no process answers there.
    ///
    /// - Returns: The socket's file, which the caller removes.
    /// - Throws: The failing call with the path: "bind /run/rivulet.sock: EADDRINUSE address already in use".
    package static func bind(path: String, loops: [EventLoop], backlog: Int = 4_096) throws(LoopError) -> SocketFile {
        try SocketFile.removeStale(at: path)
        let socket = try ListeningSocket(path: path, backlog: backlog)
        let file = try SocketFile(at: path)
        do throws(LoopError) {
            for loop in loops { _ = try loop.listen(on: ListeningSocket(sharing: socket)) }
        } catch {
            file.remove()
            for loop in loops { loop.stopListening() }
            throw error
        }
        return file
    }

    /// Returns the port, after it was bound without sharing, listened on, and released.
    private static func probe(host: String, port: UInt16) throws(LoopError) -> UInt16 {
        try ListeningSocket(host: host, port: port, backlog: 1, sharesPort: false).port
    }
}
