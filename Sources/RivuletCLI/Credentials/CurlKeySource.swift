import FoundationEssentials
import RivuletAuth
import RivuletServer

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Fetches key sets with curl, which runs as a child process without a shell.
///
/// Source: <https://curl.se/docs/manpage.html>.
struct CurlKeySource: KeySource {
    /// The longest time of a fetch, in seconds.
    private static let secondsMax = 10
    /// The time after which a curl that has not ended is killed, in seconds.
    private static let killSeconds = 12
    /// The bytes of the status after the document: a newline and three digits.
    private static let statusBytes = 4

    private static let bytesMax = KeySet.documentBytesMax + statusBytes
    /// curl's exit codes for an answer over the limit, and for a fetch over the time.
    private static let (tooLarge, tooLong): (Int32, Int32) = (63, 28)

    /// The variables that curl gets.
    ///
    /// The secrets in other variables are none of its business.
    private static let variables = [
        "PATH", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "https_proxy", "HTTPS_PROXY",
        "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
    ]

    func keySet(at url: String) throws -> [UInt8] {
        let (bytes, status) = try Self.output(of: [
            // The first option: without the file of options in the home folder.
            "curl", "--disable", "--fail", "--silent", "--globoff", "--proto", "=https", "--max-redirs", "0",
            "--max-time", "\(Self.secondsMax)", "--max-filesize", "\(KeySet.documentBytesMax)",
            "--write-out", "\n%{http_code}", "--url", url,
        ])
        guard status == 0 else { throw ServerError(Self.reason(of: status)) }
        // A redirect is not followed, and is no error for curl.
        guard bytes.suffix(Self.statusBytes).elementsEqual("\n200".utf8) else {
            let code = String(decoding: bytes.suffix(Self.statusBytes - 1), as: UTF8.self)
            throw ServerError("the answer has the status \(code) instead of 200; give the final URL")
        }
        return Array(bytes.dropLast(Self.statusBytes))
    }

    /// Source: <https://curl.se/docs/manpage.html#EXIT>.
    private static func reason(of status: Int32) -> String {
        let text =
            switch status {
            case 1: "it was built without https"
            case 5, 6: "the host is not known"
            case 7: "the host refuses the connection"
            case 22: "the answer is an error"
            case tooLong: "it took over \(secondsMax) seconds"
            case 35: "the host does not speak TLS as curl does"
            case 58, 60, 77: "the host's certificate is not trusted; see SSL_CERT_FILE"
            case tooLarge: "the document has over \(KeySet.documentBytesMax) bytes"
            default: "see the list of exit codes in curl's manual"
            }
        return "curl ended with \(status): \(text)"
    }

    // MARK: - The child process

    /// Runs a program of the PATH; returns its standard output and its exit status.
    private static func output(of arguments: [String]) throws(ServerError) -> ([UInt8], Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw failure("cannot make a pipe", errno) }
        let (reading, writing) = (ends[0], ends[1])
        defer { _ = close(reading) }
        _ = fcntl(reading, F_SETFD, FD_CLOEXEC)
        _ = fcntl(writing, F_SETFD, FD_CLOEXEC)
        let spawned = spawn(arguments, output: writing)
        _ = close(writing)
        guard case .success(let child) = spawned else {
            if case .failure(let error) = spawned { throw error }
            throw ServerError("curl cannot be started")
        }
        let bytes = read(reading, of: child)
        let status = status(of: child)
        return (bytes, bytes.count > bytesMax ? tooLarge : status)
    }

    private static func spawn(_ arguments: [String], output: Int32) -> Result<pid_t, ServerError> {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        #else
        var actions = unsafe posix_spawn_file_actions_t()
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        let environment = ProcessInfo.processInfo.environment
        let variables = Self.variables.compactMap { name in environment[name].map { "\(name)=\($0)" } }
        var child = pid_t()
        let code = unsafe withCStrings(arguments) { words in
            unsafe withCStrings(variables) { variables in
                unsafe posix_spawnp(&child, "curl", &actions, nil, words, variables)
            }
        }
        guard code == 0 else {
            guard code != ENOENT else {
                return .failure(
                    ServerError(
                        "this machine has no curl; fetch the document by other means into a file, and name the file"
                    )
                )
            }
            return .failure(failure("cannot start curl", code))
        }
        return .success(child)
    }

    /// Reads up to the limit; kills the child if it exceeds the limit or the time.
    private static func read(_ descriptor: Int32, of child: pid_t) -> [UInt8] {
        let end = ContinuousClock.now + .seconds(killSeconds)
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= bytesMax {
            let rest = end - ContinuousClock.now
            guard rest > .zero else { break }
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = Int32(rest.components.seconds) * 1_000 + 1
            let ready = unsafe poll(&polled, 1, milliseconds)
            if ready < 0, errno != EINTR { break }
            guard ready > 0 else { continue }
            let count = unsafe systemRead(descriptor, &block, block.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += block[..<count]
        }
        _ = kill(child, SIGKILL)
        return bytes
    }

    /// Waits for the child; returns its exit status, or ``tooLong`` if it was killed.
    private static func status(of child: pid_t) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : tooLong
    }

    private static func failure(_ what: String, _ code: Int32) -> ServerError {
        ServerError("\(what): \(unsafe String(cString: strerror(code))) (errno \(code))", status: code)
    }
}

/// Passes texts as C strings, with nil at the end; they are valid in the body only.
private func withCStrings<Result>(
    _ texts: [String],
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    let copies = unsafe texts.map { unsafe strdup($0) } + [nil]
    defer { unsafe copies.forEach { unsafe free($0) } }
    return unsafe copies.withUnsafeBufferPointer { buffer in
        // SAFETY: the buffer has the nil at its end, so it is not empty and has an address.
        guard let address = buffer.baseAddress else { preconditionFailure("an array with an element has no address") }
        return unsafe body(address)
    }
}

/// `read(2)`, which the type's own `read` would hide.
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    unsafe read(descriptor, bytes, count)
}
