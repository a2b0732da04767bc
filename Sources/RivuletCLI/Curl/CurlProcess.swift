import FoundationEssentials
import Glibc
import RivuletBase

/// The reason that curl gives no answer.
struct CurlError: Error, CustomStringConvertible {
    let description: String
    /// True if the machine has no curl.
    var isMissing = false
}

/// A running curl with one request.
///
/// The server has no TLS, so the doctor and the key sets of URLs go through curl, without a shell.
struct CurlProcess: ~Copyable {
    /// The state of reading.
    enum Outcome {
        /// The condition holds.
        case enough
        /// curl has ended.
        case ended
        /// The time is over.
        case late
    }

    private static let pieceBytesMax = 65_536

    /// The answer so far.
    private(set) var answer = CurlAnswer()
    /// Nil after its exit status was taken.
    private var process: pid_t?
    private let output: Descriptor
    private let errors: Descriptor

    /// Starts curl with a request.
    ///
    /// `~/.curlrc` applies, so that curl trusts the same authorities and uses the same proxies as the operator's own
    /// commands.
    ///
    /// - Throws: if the machine has no curl.
    static func start(_ request: CurlRequest) throws(CurlError) -> CurlProcess {
        try start(["--config", "-"], input: request.configuration, in: ProcessInfo.processInfo.environment)
    }

    /// Starts curl with arguments and with these variables.
    ///
    /// - Throws: if the machine has no curl.
    static func start(
        _ arguments: [String],
        input text: String = "",
        in environment: [String: String]
    ) throws(CurlError) -> CurlProcess {
        let input = try Pipe.make()
        let output = try Pipe.make()
        let errors = try Pipe.make()
        let process = try spawn(["curl"] + arguments, environment, input, output, errors)
        let curl = CurlProcess(process: process, output: output.reading, errors: errors.reading)
        // If this process kept the end of curl, a write would wait for ever for a curl that has ended.
        close(input.reading)
        try input.writing.write(text)
        return curl
    }

    private static func close(_: consuming Descriptor) {}

    private init(process: pid_t, output: consuming Descriptor, errors: consuming Descriptor) {
        self.process = process
        self.output = output
        self.errors = errors
    }

    deinit {
        guard let process else { return }
        kill(process, SIGKILL)
        var status: Int32 = 0
        unsafe waitpid(process, &status, 0)
    }

    /// Waits for the end of a curl that has closed its output, and returns its exit status; nil after a signal.
    mutating func exitStatus() -> Int32? {
        guard let process else { return nil }
        self.process = nil
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    }

    /// Sends a request, and returns its whole answer.
    static func answer(to request: CurlRequest) throws(CurlError) -> CurlAnswer {
        var curl = try start(request)
        // curl gives up before this deadline, and says why.
        let deadline = ContinuousClock.now + .seconds(request.secondsMax + 5)
        guard try curl.read(until: deadline, { _ in false }) == .ended, curl.answer.hasHead else {
            throw try curl.failure()
        }
        return curl.answer
    }

    /// Reads until the condition holds, curl has ended, or the time is over.
    mutating func read(
        until deadline: ContinuousClock.Instant,
        _ isEnough: (CurlAnswer) -> Bool
    ) throws(CurlError) -> Outcome {
        while !isEnough(answer) {
            guard let bytes = try output.read(atMost: Self.pieceBytesMax, until: deadline) else { return .late }
            guard !bytes.isEmpty else { return .ended }
            answer.receive(bytes)
        }
        return .enough
    }

    /// The error of a curl that has ended without an answer.
    func failure() throws(CurlError) -> CurlError {
        let bytes = try errors.read(atMost: Self.pieceBytesMax, until: .now + .seconds(1)) ?? []
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
        return CurlError(description: line ?? "curl ended without an answer")
    }

    private static func spawn(
        _ arguments: [String],
        _ environment: [String: String],
        _ input: borrowing Pipe,
        _ output: borrowing Pipe,
        _ errors: borrowing Pipe
    ) throws(CurlError) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // The other ends of the pipes close by themselves in the new process.
        let ends = [
            (input.reading.number, STDIN_FILENO), (output.writing.number, STDOUT_FILENO),
            (errors.writing.number, STDERR_FILENO),
        ]
        for (end, number) in ends {
            guard unsafe posix_spawn_file_actions_adddup2(&actions, end, number) == 0 else {
                throw CurlError(description: "curl does not start: out of memory")
            }
        }
        let variables = environment.map { "\($0.key)=\($0.value)" }
        var process: pid_t = 0
        let status = unsafe withCStrings(arguments) { words in
            unsafe withCStrings(variables) { variables in
                unsafe posix_spawnp(&process, "curl", &actions, nil, words, variables)
            }
        }
        guard status == 0 else {
            let reason = unsafe String(cString: strerror(status))
            throw CurlError(description: "curl does not start: \(reason); install curl", isMissing: status == ENOENT)
        }
        return process
    }

    /// Calls the body with a list of C strings that ends with nil, as `execve` takes it.
    private static func withCStrings(
        _ texts: [String],
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    ) -> Int32 {
        // SAFETY: each copy lives until the body has returned, and the list ends with nil.
        var list = unsafe texts.map { unsafe strdup($0) } + [nil]
        defer { unsafe list.forEach { unsafe free($0) } }
        return unsafe list.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return EINVAL }
            return unsafe body(start)
        }
    }
}

/// Both ends of a pipe, which close in a process that is started.
private struct Pipe: ~Copyable {
    let reading: Descriptor
    let writing: Descriptor

    private init(_ ends: [Int32]) {
        reading = Descriptor(number: ends[0])
        writing = Descriptor(number: ends[1])
    }

    static func make() throws(CurlError) -> Pipe {
        var ends: [Int32] = [-1, -1]
        // SAFETY: the call writes two numbers.
        guard unsafe pipe(&ends) == 0 else { throw Descriptor.error("pipe") }
        let pipe = Pipe(ends)
        for end in ends {
            guard fcntl(end, F_SETFD, FD_CLOEXEC) == 0 else { throw Descriptor.error("fcntl") }
        }
        return pipe
    }
}

/// A file descriptor that is closed at the end of its life.
private struct Descriptor: ~Copyable {
    let number: Int32

    init(number: Int32) { self.number = number }

    deinit { Glibc.close(number) }

    static func error(_ call: String) -> CurlError {
        let reason = unsafe String(cString: strerror(errno))
        return CurlError(description: "\(call) failed: \(reason)")
    }

    /// Writes the whole text.
    ///
    /// A reader that has ended is no error, because its own error says more.
    func write(_ text: String) throws(CurlError) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            // SAFETY: no more bytes are read than the array has.
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(number, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EPIPE { return }
            guard count > 0 else { throw Self.error("write") }
            rest.removeFirst(count)
        }
    }

    /// Reads what has arrived: an empty array at the end, nil if nothing arrives in time.
    func read(atMost most: Int, until deadline: ContinuousClock.Instant) throws(CurlError) -> [UInt8]? {
        while true {
            let left = deadline - .now
            guard left > .zero else { return nil }
            var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            // SAFETY: the call reads and writes one `pollfd`.
            let ready = unsafe poll(&entry, 1, Int32(clamping: left.millisecondsRoundedUp))
            if ready == 0 || (ready < 0 && errno == EINTR) { continue }
            guard ready > 0 else { throw Self.error("poll") }
            var count = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: most) { buffer, used in
                // SAFETY: no more bytes are written than the buffer holds.
                count = unsafe Glibc.read(number, buffer.baseAddress, buffer.count)
                used = max(0, count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.error("read") }
            return bytes
        }
    }
}
