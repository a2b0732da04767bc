internal import CLibuv
internal import Glibc

/// A listening socket, closed at the end of this value's life.
struct ListeningSocket: ~Copyable {
    let descriptor: Int32
    /// The port that the socket is bound to; 0 for a Unix socket.
    let port: UInt16

    /// Binds and listens.
    ///
    /// Accepted connections inherit `TCP_NODELAY` from this socket, which saves a call for each. Source: tcp(7).
    ///
    /// - Throws: The failing call with "host:port", such as `EADDRINUSE`.
    init(host: String, port: UInt16, backlog: Int, sharesPort: Bool) throws(LoopError) {
        let endpoint = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        var address = try SocketAddress(host: host, port: port, endpoint: endpoint)
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = try checkErrno(socket(address.family, kind, 0), "socket \(endpoint)")
        do throws(LoopError) {
            try Self.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1, "setsockopt SO_REUSEADDR \(endpoint)")
            if sharesPort {
                try Self.set(descriptor, SOL_SOCKET, SO_REUSEPORT, 1, "setsockopt SO_REUSEPORT \(endpoint)")
            }
            try Self.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1, "setsockopt TCP_NODELAY \(endpoint)")
            try address.bind(descriptor, "bind \(endpoint)")
            try checkErrno(Glibc.listen(descriptor, Int32(clamping: backlog)), "listen \(endpoint)")
            self.port = try SocketAddress(localOf: descriptor, "getsockname \(endpoint)").peer.port
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    /// Binds a Unix socket at a path where no file is, and listens.
    ///
    /// The file gets the mode 0660 before the socket listens, so that no other user can connect to it.
    ///
    /// - Throws: The failing call with the path, such as `EADDRINUSE` or `ENOENT`.
    init(path: String, backlog: Int) throws(LoopError) {
        var address = try SocketAddress(path: path)
        let descriptor = try Self.unixSocket(for: path)
        do throws(LoopError) {
            try address.bind(descriptor, "bind \(path)")
            do throws(LoopError) {
                try checkErrno(unsafe chmod(path, 0o660), "chmod \(path)")
                try checkErrno(Glibc.listen(descriptor, Int32(clamping: backlog)), "listen \(path)")
            } catch {
                _ = unsafe unlink(path)
                throw error
            }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        (self.descriptor, port) = (descriptor, 0)
    }

    /// Makes a socket that shares the connections of another one.
    init(sharing other: borrowing ListeningSocket) throws(LoopError) {
        (descriptor, port) = (try checkErrno(fcntl(other.descriptor, F_DUPFD_CLOEXEC, 0), "fcntl"), other.port)
    }

    /// Makes a Unix socket that is bound to no path.
    static func unixSocket(for path: String) throws(LoopError) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        return try checkErrno(socket(AF_UNIX, kind, 0), "socket \(path)")
    }

    deinit { Glibc.close(descriptor) }

    /// Accepts one connection, non-blocking; nil if none waits.
    ///
    /// - Throws: `EMFILE`, `ENFILE`, `ENOBUFS`, `ENOMEM` and similar errors, after which the caller tries again later.
    func accept() throws(LoopError) -> (descriptor: Int32, peer: PeerAddress)? {
        while true {
            var address = SocketAddress()
            let accepted = address.accept(descriptor)
            if accepted >= 0 { return (accepted, address.peer) }
            switch errno {
            case EAGAIN: return nil
            // The peer closed the connection while it waited, or a signal came. The next connection may be ready.
            // Source: accept(2).
            case ECONNABORTED, EINTR, EPROTO, ENETDOWN, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH: continue
            default: throw LoopError.last("accept")
            }
        }
    }

    static func set(
        _ descriptor: Int32,
        _ level: Int32,
        _ option: Int32,
        _ value: Int32,
        _ call: @autoclosure () -> String
    ) throws(LoopError) {
        var value = value
        // SAFETY: the kernel reads the given number of bytes from a variable that outlives the call.
        let status = unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        try checkErrno(status, call())
    }
}
