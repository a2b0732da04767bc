import ArgumentParser

/// Checks that a running server is alive.
struct Health: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a running server whether it is alive.",
        discussion: """
            Requests /healthz. Exits with 0 if the answer is 200. Otherwise prints one line with the reason and exits with 1, after at \
            most 3 seconds. RIVULET_HOST and RIVULET_PORT replace missing options, as they do for serve.
            """
    )

    @Option(help: "The address that the server listens on; 0.0.0.0 and :: mean this machine.")
    var host: String = Environment.text("HOST") ?? "127.0.0.1"

    @Option(parsing: .unconditional, help: "The port that the server listens on. (default: 8080)")
    var port: UInt16?

    func run() throws {
        let port = try port ?? Environment.value("PORT") { UInt16($0) } ?? 8080
        let deadline = ContinuousClock.now + HealthQuestion.timeMax
        var refusal: HealthError?
        for target in HealthTarget.targets(host: host, port: port) {
            do {
                return try HealthQuestion.ask(at: target, until: deadline)
            } catch {
                refusal = refusal ?? error
            }
        }
        if let refusal { throw refusal }
    }
}

/// The reason that a server is not known to be alive.
struct HealthError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// An address to check.
struct HealthTarget {
    /// An IPv4 or IPv6 address.
    let address: String
    let port: UInt16

    /// Returns the addresses at which a client on the same machine can reach the server, the likelier address first.
    ///
    /// `host` is a value of `serve --host`: an IP address or "localhost". For a wildcard address, the loopback
    /// address is used. A server on `::` may be reachable by IPv4 only, because IPv6 can be switched off.
    static func targets(host: String, port: UInt16) -> [HealthTarget] {
        let addresses =
            switch host {
            case "localhost", "0.0.0.0": ["127.0.0.1"]
            case "::", "[::]": ["::1", "127.0.0.1"]
            default: [host]
            }
        return addresses.map { HealthTarget(address: $0, port: port) }
    }
}

extension HealthTarget: CustomStringConvertible {
    /// The address as a `Host` field has it: `127.0.0.1:8080` or `[::1]:8080`.
    var description: String { (address.contains(":") ? "[\(address)]" : address) + ":\(port)" }
}
