import Glibc
import RivuletBase

/// One request to `/healthz`, on its own connection and with one deadline for everything.
struct HealthQuestion: ~Copyable {
    /// The time limit of the request.
    ///
    /// The whole command takes at most 3 s, which leaves time for the start and the end of the process.
    static let timeMax = Duration.milliseconds(2_800)
    /// The number of bytes after which the search for the end of the status line stops.
    private static let statusLineBytesMax = 1_024

    private let target: HealthTarget
    private let deadline: ContinuousClock.Instant
    private let descriptor: Int32

    /// Returns when the server at this address has answered 200.
    ///
    /// The PROXY header names no client, as for a proxy's own checks.
    ///
    /// - Throws: ``HealthError`` with the reason if there is no such answer.
    static func ask(
        at target: HealthTarget,
        until deadline: ContinuousClock.Instant,
        sendsProxyHeader: Bool
    ) throws(HealthError) {
        let question = try connected(to: target, until: deadline)
        let start = sendsProxyHeader ? "PROXY UNKNOWN\r\n" : ""
        try question.send(start + "GET /healthz HTTP/1.1\r\nHost: \(target.host)\r\nConnection: close\r\n\r\n")
        let line = try question.statusLine()
        let words = line.split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1.") else {
            throw HealthError(
                "the server at \(target) does not answer in HTTP; give Rivulet's address with \(target.remedy)"
            )
        }
        guard words[1] == "200" else { throw HealthError("the server at \(target) answers \(words[1]) to /healthz") }
    }

    /// Takes ownership of a socket's descriptor.
    private init(target: HealthTarget, deadline: ContinuousClock.Instant, descriptor: Int32) {
        self.target = target
        self.deadline = deadline
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private static func connected(
        to target: HealthTarget,
        until deadline: ContinuousClock.Instant
    ) throws(HealthError) -> HealthQuestion {
        switch target {
        case .tcp(let address, let port): try connected(to: target, at: address, port, until: deadline)
        case .unix(let path): try connected(to: target, at: path, until: deadline)
        }
    }

    /// Connects to a Unix socket.
    private static func connected(
        to target: HealthTarget,
        at path: String,
        until deadline: ContinuousClock.Instant
    ) throws(HealthError) -> HealthQuestion {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isShort = unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            guard path.utf8.count < bytes.count else { return false }
            unsafe bytes.copyBytes(from: path.utf8)
            return true
        }
        guard isShort else {
            throw HealthError("the path \(path) is too long for a socket; give another with --listen")
        }
        let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let descriptor = socket(AF_UNIX, Int32(kind), 0)
        guard descriptor >= 0 else { throw HealthError("cannot ask \(target): \(reason(errno))") }
        let question = HealthQuestion(target: target, deadline: deadline, descriptor: descriptor)
        // SAFETY: the call reads one `sockaddr_un`. A Unix socket is connected at once, or not at all.
        let status = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw question.unreachable(errno) }
        return question
    }

    private static func connected(
        to target: HealthTarget,
        at address: String,
        _ port: UInt16,
        until deadline: ContinuousClock.Instant
    ) throws(HealthError) -> HealthQuestion {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        // SAFETY: after a success, `found` is a list that this function owns and frees below.
        guard unsafe getaddrinfo(address, "\(port)", &hints, &found) == 0, let list = unsafe found else {
            throw HealthError("the host \"\(address)\" is not an IP address; give an IP address with --host")
        }
        defer { unsafe freeaddrinfo(list) }
        let info = unsafe list.pointee
        let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let descriptor = unsafe socket(info.ai_family, Int32(kind), 0)
        guard descriptor >= 0 else { throw HealthError("cannot ask \(target): \(reason(errno))") }
        let question = HealthQuestion(target: target, deadline: deadline, descriptor: descriptor)
        // SAFETY: the list's address has `ai_addrlen` bytes.
        let code = unsafe connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 ? 0 : errno
        if code == EINPROGRESS {
            try question.finishConnecting()
        } else if code != 0 {
            throw question.unreachable(code)
        }
        return question
    }

    private borrowing func finishConnecting() throws(HealthError) {
        try wait(for: POLLOUT)
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        // SAFETY: the call writes one `Int32`.
        let status = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        guard status == 0, code == 0 else { throw unreachable(status == 0 ? code : errno) }
    }

    private borrowing func send(_ text: String) throws(HealthError) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            try wait(for: POLLOUT)
            // SAFETY: no more bytes are read than the array has.
            let sent = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { throw unreachable(errno) }
            rest.removeFirst(sent)
        }
    }

    /// Returns the first line of the answer, without its end.
    private borrowing func statusLine() throws(HealthError) -> String {
        var line: [UInt8] = []
        while line.count < Self.statusLineBytesMax {
            try wait(for: POLLIN)
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.statusLineBytesMax) { buffer, count in
                // SAFETY: no more bytes are written than the buffer holds.
                count = unsafe max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
            }
            guard !bytes.isEmpty else { throw HealthError("the server at \(target) closed without an answer") }
            line += bytes
            if let end = line.firstIndex(of: UInt8(ascii: "\r")) {
                return String(decoding: line[..<end], as: UTF8.self)
            }
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Waits until the socket is ready for these events, or broken.
    private borrowing func wait(for events: Int32) throws(HealthError) {
        while true {
            let left = deadline - .now
            guard left > .zero else { throw HealthError("the server at \(target) does not answer within 3 s") }
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            // SAFETY: the call reads and writes one `pollfd`.
            let count = unsafe poll(&entry, 1, Int32(clamping: left.millisecondsRoundedUp))
            if count > 0 { return }
            guard count == 0 || errno == EINTR else {
                throw HealthError("cannot ask \(target): \(Self.reason(errno))")
            }
        }
    }

    private borrowing func unreachable(_ code: Int32) -> HealthError {
        HealthError(
            "no server can be reached at \(target): \(Self.reason(code)); give its address with \(target.remedy)"
        )
    }

    private static func reason(_ code: Int32) -> String {
        unsafe String(cString: strerror(code))
    }
}
