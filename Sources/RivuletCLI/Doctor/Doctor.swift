import ArgumentParser
import FoundationEssentials
import Glibc

/// Asks a running deployment through its proxy, and names the proxy's faults.
struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a deployment through its proxy, and report what the proxy breaks.",
        discussion: """
            Prints a line for each check: ok, skip or FAULT, with the remedy and the line of the proxy's configuration. Exits with 0 if there \
            is no fault, and with 1 otherwise. Run it outside of the server's network, as a client would be.

            The requests change nothing. They are sent by curl, which must be installed; its ~/.curlrc applies. Without --stream, the \
            session "doctor" of the first app is watched, which is not stored.
            """
    )

    /// The bytes of a file with a token or an API key, at most.
    private static let tokenBytesMax = 8_192

    @Option(help: "The address that clients use: https://rivulet.example.")
    var via: String

    @Option(help: "The path of a stream that may be read: /v1/apps/notes/sessions/home/changes?path=/p. (default: any)")
    var stream: String?

    @Option(help: "A file with a token or an API key, which is sent as Authorization: Bearer. (default: none)")
    var tokenFile: String?

    @Option(parsing: .unconditional, help: "The seconds for which the stream is watched, 1 to 3600.")
    var watch: Int = 20

    func validate() throws {
        guard via.hasPrefix("https://") || via.hasPrefix("http://"), CurlRequest.isPlain(via), origin.count > 8 else {
            throw ValidationError(
                "--via is the address of a deployment, such as https://rivulet.example; found \"\(via)\""
            )
        }
        guard (1...3_600).contains(watch) else { throw ValidationError("--watch is 1 to 3600; found \(watch)") }
        guard let stream else { return }
        guard stream.hasPrefix("/v1/"), CurlRequest.isPlain(stream), !stream.contains(" ") else {
            throw ValidationError("--stream is a path that begins with /v1/, encoded as in a URL; found \"\(stream)\"")
        }
    }

    func run() throws {
        // A curl that ends early must not end this process.
        _ = signal(SIGPIPE, SIG_IGN)
        var checks = DoctorChecks(
            origin: origin,
            stream: stream,
            token: try token(),
            watchTime: .seconds(watch)
        ) { line in
            print(line)
            // A pipe is block-buffered, and the checks take a while.
            fflush(nil)
        }
        checks.run()
        guard checks.faultCount == 0 else {
            print("\(checks.faultCount) \(checks.faultCount == 1 ? "fault" : "faults")")
            throw ExitCode.failure
        }
        print("no faults")
    }

    /// The address without a path: scheme, host and port.
    private var origin: String {
        let scheme = via.hasPrefix("https://") ? "https://" : "http://"
        return scheme + via.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    }

    private func token() throws -> String? {
        guard let tokenFile else { return nil }
        guard let data = FileManager.default.contents(atPath: tokenFile) else {
            throw ValidationError("--token-file \(tokenFile) cannot be read")
        }
        let text = String(decoding: data, as: UTF8.self).filter { !$0.isNewline }
        guard !text.isEmpty, text.utf8.count <= Self.tokenBytesMax, CurlRequest.isPlain(text), !text.contains(" ")
        else {
            throw ValidationError(
                "--token-file \(tokenFile) has no token and no API key of at most \(Self.tokenBytesMax) bytes"
            )
        }
        return text
    }
}
