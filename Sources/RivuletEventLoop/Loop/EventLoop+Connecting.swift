// Owns outgoing connections.

internal import CLibuv
internal import Glibc

extension EventLoop {
    /// Connects to `host:port`.
    ///
    /// The addresses of a name are tried one after the other. The connection then has the events of an accepted one,
    /// except for `connectionDidOpen`: the reply takes its place. `TCP_NODELAY` is set.
    ///
    /// - Parameters:
    ///   - host: An IPv4 or IPv6 address, or a name, which a thread of libuv resolves.
    ///   - port: The port.
    ///   - time: The time for all of it; afterwards the reply is `ETIMEDOUT`.
    ///   - reply: Gets the connection, which is read already, or the failing call with "host:port". It is called on
    ///     the loop, after this call has returned, and not after the end of the loop.
    package func connect(
        host: String,
        port: UInt16,
        within time: Duration,
        reply: @escaping (Result<ConnectionID, LoopError>) -> Void
    ) {
        assertOnLoop()
        let endpoint = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        let connecting = OutgoingConnection(loop: self, endpoint: endpoint, reply: reply)
        state.outgoing[ObjectIdentifier(connecting)] = connecting
        connecting.timer = schedule(after: time) { [weak connecting] in
            connecting?.fail(LoopError(call: "connect \(endpoint)", code: -ETIMEDOUT))
        }
        do throws(LoopError) {
            connecting.connect(toOneOf: [try SocketAddress(host: host, port: port, endpoint: endpoint)])
        } catch {
            // The host is a name.
            connecting.resolve(host, port)
        }
    }

    /// Cancels the connections that are not made yet.
    func endConnecting() {
        for connecting in state.outgoing.values { connecting.cancel() }
        while state.outgoing.values.contains(where: \.isResolving) { uv.poll(sleeps: true) }
        state.outgoing = [:]
    }

    /// Takes over a socket that is connected to the peer; nil if the loop has too many connections.
    func openOutgoing(_ descriptor: Int32, _ call: String) throws(LoopError) -> ConnectionID {
        guard state.connections.count < limits.connectionsMax else { throw LoopError(call: call, code: -EMFILE) }
        let connection = unsafe state.connections.add()
        let id = unsafe connection.pointee.id
        do throws(LoopError) {
            try check(unsafe uv_tcp_init(uv.pointer, connection.tcp), "uv_tcp_init")
            try check(unsafe uv_tcp_open(connection.tcp, descriptor), "uv_tcp_open")
        } catch {
            unsafe discard(connection)
            throw error
        }
        unsafe startReading(connection)
        return id
    }
}

/// One attempt to connect, until the connection is made or has failed.
@safe
final class OutgoingConnection {
    // SAFETY: used on the loop's thread only. `request` is allocated in `init` and freed in `deinit`; libuv uses it
    // only between `resolve` and its callback, and the request keeps this object meanwhile. `poll` is valid while it is
    // not nil; libuv frees it in the close callback.
    private unowned let loop: EventLoop
    private let endpoint: String
    private var reply: ((Result<ConnectionID, LoopError>) -> Void)?
    private let request: UnsafeMutablePointer<uv_getaddrinfo_t>
    private var poll: UnsafeMutablePointer<uv_poll_t>?
    private var addresses: [SocketAddress] = []
    private var descriptor: Int32 = -1
    var timer: TimerID?
    /// True while libuv uses the request.
    private(set) var isResolving = false

    /// The most addresses of one name that are tried.
    private static let addressesMax = 8

    init(loop: EventLoop, endpoint: String, reply: @escaping (Result<ConnectionID, LoopError>) -> Void) {
        (self.loop, self.endpoint, self.reply) = (loop, endpoint, reply)
        unsafe request = .allocate(capacity: 1)
        unsafe request.initialize(to: uv_getaddrinfo_t())
        unsafe poll = nil
    }

    deinit { unsafe request.deallocate() }

    /// Looks a name up, and connects to its addresses.
    func resolve(_ host: String, _ port: UInt16) {
        // SAFETY: the reference that is counted here is released in the callback, which libuv calls once for each
        // request that it takes.
        let context = unsafe Unmanaged.passRetained(self)
        unsafe request.pointee.data = context.toOpaque()
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        // libuv copies the texts and the hints. Source: <https://docs.libuv.org/en/v1.x/dns.html>
        let status = unsafe uv_getaddrinfo(
            loop.uv.pointer,
            request,
            { request, status, found in
                guard let data = unsafe request?.pointee.data else { return }
                let connecting = unsafe Unmanaged<OutgoingConnection>.fromOpaque(data).takeRetainedValue()
                unsafe connecting.didResolve(status, found)
            },
            host,
            "\(port)",
            &hints
        )
        guard status == 0 else {
            unsafe context.release()
            failLater(LoopError(call: "getaddrinfo \(endpoint)", code: status))
            return
        }
        isResolving = true
    }

    private func didResolve(_ status: Int32, _ found: UnsafeMutablePointer<addrinfo>?) {
        isResolving = false
        var addresses: [SocketAddress] = []
        var next = unsafe found
        while let entry = unsafe next, addresses.count < Self.addressesMax {
            if let address = unsafe SocketAddress(entry.pointee) { addresses.append(address) }
            unsafe next = entry.pointee.ai_next
        }
        unsafe uv_freeaddrinfo(found)
        guard reply != nil else {
            loop.state.outgoing[ObjectIdentifier(self)] = nil
            return
        }
        guard status == 0 else { return fail(LoopError(call: "getaddrinfo \(endpoint)", code: status)) }
        connect(toOneOf: addresses)
    }

    /// Connects to the first address that accepts.
    func connect(toOneOf addresses: [SocketAddress]) {
        self.addresses = addresses.reversed()
        connectToNext(LoopError(call: "getaddrinfo \(endpoint)", code: Int32(UV_EAI_NONAME.rawValue)))
    }

    private func connectToNext(_ error: LoopError) {
        guard var address = addresses.popLast() else { return failLater(error) }
        do throws(LoopError) {
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            descriptor = try checkErrno(socket(address.family, kind, 0), "socket \(endpoint)")
            try ListeningSocket.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1, "setsockopt \(endpoint)")
            if address.connect(descriptor) != 0, errno != EINPROGRESS, errno != EINTR {
                throw LoopError.last("connect \(endpoint)")
            }
            try watch()
        } catch {
            abandon()
            connectToNext(error)
        }
    }

    private func watch() throws(LoopError) {
        let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
        unsafe poll.initialize(to: uv_poll_t())
        do throws(LoopError) {
            try check(unsafe uv_poll_init(loop.uv.pointer, poll, descriptor), "uv_poll_init")
        } catch {
            unsafe poll.deallocate()
            throw error
        }
        unsafe self.poll = poll
        unsafe poll.pointee.data = unsafe Unmanaged.passUnretained(self).toOpaque()
        let status = unsafe uv_poll_start(poll, Int32(UV_WRITABLE.rawValue)) { poll, _, _ in
            guard let data = unsafe poll?.pointee.data else { return }
            // SAFETY: `data` is the attempt, which its loop keeps until the poll is closed.
            unsafe Unmanaged<OutgoingConnection>.fromOpaque(data).takeUnretainedValue().didConnect()
        }
        try check(status, "uv_poll_start")
    }

    /// Takes the outcome of the kernel's attempt.
    ///
    /// Source: connect(2), EINPROGRESS.
    private func didConnect() {
        // The loop's last turn polls once more.
        guard !loop.state.isStopping else { return cancel() }
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        // SAFETY: the kernel writes at most 4 bytes to a variable of this size.
        let status = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        guard status == 0, code == 0 else {
            let error = status == 0 ? LoopError(call: "connect \(endpoint)", code: -code) : LoopError.last("getsockopt")
            abandon()
            return connectToNext(error)
        }
        closePoll()
        let connected = exchange(&descriptor, with: -1)
        do throws(LoopError) {
            finish(.success(try loop.openOutgoing(connected, "connect \(endpoint)")))
        } catch {
            Glibc.close(connected)
            finish(.failure(error))
        }
    }

    /// Replies with a failure after the caller has returned.
    private func failLater(_ error: LoopError) {
        loop.schedule(after: .zero) { [weak self] in self?.fail(error) }
    }

    func fail(_ error: LoopError) {
        abandon()
        finish(.failure(error))
    }

    /// Ends the attempt without a reply.
    func cancel() {
        reply = nil
        abandon()
        guard isResolving else { return }
        // The call fails for a lookup that has begun. The loop waits for such a lookup.
        _ = unsafe uv_cancel(UnsafeMutableRawPointer(request).assumingMemoryBound(to: uv_req_t.self))
    }

    private func finish(_ result: Result<ConnectionID, LoopError>) {
        guard let reply = exchange(&reply, with: nil) else { return }
        if let timer { loop.cancel(timer) }
        // A lookup that has begun keeps the attempt until its end, so that the loop can wait for it.
        if isResolving {
            _ = unsafe uv_cancel(UnsafeMutableRawPointer(request).assumingMemoryBound(to: uv_req_t.self))
        } else {
            loop.state.outgoing[ObjectIdentifier(self)] = nil
        }
        reply(result)
    }

    private func abandon() {
        closePoll()
        if descriptor >= 0 { Glibc.close(exchange(&descriptor, with: -1)) }
    }

    private func closePoll() {
        guard let poll = unsafe exchange(&self.poll, with: nil) else { return }
        _ = unsafe uv_poll_stop(poll)
        unsafe uv_close(UnsafeMutableRawPointer(poll).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            unsafe UnsafeMutableRawPointer(handle)?.deallocate()
        }
    }
}
