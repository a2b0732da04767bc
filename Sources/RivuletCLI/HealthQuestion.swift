import Glibc
import RivuletBase

/// One question to `/healthz`, on a connection of its own and with one deadline for all of it.
struct HealthQuestion: ~Copyable {
    /// The time that the whole command takes at most is 3 s; this leaves some of it to the start and the end of the process.
    static let timeMax = Duration.milliseconds(2_800)
    /// The bytes that are read in search of the end of the status line.
    private static let statusLineBytesMax = 1_024

    private let place: HealthPlace
    private let deadline: ContinuousClock.Instant
    private let descriptor: Int32

    /// Returns when the server at this place has answered 200.
    ///
    /// - Throws: ``HealthError`` with what happened instead.
    static func ask(at place: HealthPlace, until deadline: ContinuousClock.Instant) throws(HealthError) {
        let question = try connected(to: place, until: deadline)
        try question.send("GET /healthz HTTP/1.1\r\nHost: \(place)\r\nConnection: close\r\n\r\n")
        let line = try question.statusLine()
        let words = line.split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1.") else {
            throw HealthError("the server at \(place) does not answer in HTTP; name Rivulet's port with --port")
        }
        guard words[1] == "200" else { throw HealthError("the server at \(place) answers \(words[1]) to /healthz") }
    }

    /// Takes over the descriptor of a socket.
    private init(place: HealthPlace, deadline: ContinuousClock.Instant, descriptor: Int32) {
        self.place = place
        self.deadline = deadline
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private static func connected(
        to place: HealthPlace,
        until deadline: ContinuousClock.Instant
    ) throws(HealthError) -> HealthQuestion {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        // SAFETY: `found` is the caller's list after a success, and freed below.
        guard unsafe getaddrinfo(place.address, "\(place.port)", &hints, &found) == 0, let list = unsafe found else {
            throw HealthError("the host \"\(place.address)\" is not an IP address; give the server's own with --host")
        }
        defer { unsafe freeaddrinfo(list) }
        let info = unsafe list.pointee
        let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let descriptor = unsafe socket(info.ai_family, Int32(kind), 0)
        guard descriptor >= 0 else { throw HealthError("cannot ask \(place): \(reason(errno))") }
        let question = HealthQuestion(place: place, deadline: deadline, descriptor: descriptor)
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
            // SAFETY: as many bytes are read as there are.
            let sent = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { throw unreachable(errno) }
            rest.removeFirst(sent)
        }
    }

    /// The first line of the answer, without its end.
    private borrowing func statusLine() throws(HealthError) -> String {
        var line: [UInt8] = []
        while line.count < Self.statusLineBytesMax {
            try wait(for: POLLIN)
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.statusLineBytesMax) { buffer, count in
                // SAFETY: at most as many bytes are written as the buffer has.
                count = unsafe max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
            }
            guard !bytes.isEmpty else { throw HealthError("the server at \(place) closed without an answer") }
            line += bytes
            if let end = line.firstIndex(of: UInt8(ascii: "\r")) {
                return String(decoding: line[..<end], as: UTF8.self)
            }
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Waits until the socket is ready for this, or broken.
    private borrowing func wait(for events: Int32) throws(HealthError) {
        while true {
            let left = deadline - .now
            guard left > .zero else { throw HealthError("the server at \(place) does not answer within 3 s") }
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            // SAFETY: the call reads and writes one `pollfd`.
            let count = unsafe poll(&entry, 1, Int32(clamping: left.millisecondsRoundedUp))
            if count > 0 { return }
            guard count == 0 || errno == EINTR else {
                throw HealthError("cannot ask \(place): \(Self.reason(errno))")
            }
        }
    }

    private borrowing func unreachable(_ code: Int32) -> HealthError {
        HealthError("no server can be reached at \(place): \(Self.reason(code)); name its place with --host and --port")
    }

    private static func reason(_ code: Int32) -> String {
        unsafe String(cString: strerror(code))
    }
}
