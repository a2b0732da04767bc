import ArgumentParser
import Rivulet

/// Checks that a running server is alive.
struct Health: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a running server whether it is alive.",
        discussion: """
            Requests /healthz. Exits with 0 if the answer is 200. Otherwise prints one line with the reason and exits with 1, after at \
            most 3 seconds. RIVULET_LISTEN, RIVULET_HOST, RIVULET_PORT and RIVULET_PROXY_PROTOCOL replace missing options, as they do for \
            serve. A server with a port is asked at its port.
            """
    )

    @Option(help: "The places that the server listens on, such as unix:/run/rivulet/rivulet.sock. (default: tcp)")
    var listen: [String] = []

    @Option(help: "The address that the server listens on; 0.0.0.0 and :: mean this machine. (default: 127.0.0.1)")
    var host: String?

    @Option(parsing: .unconditional, help: "The port that the server listens on. (default: 8080)")
    var port: UInt16?

    @Option(help: "on: the server expects a PROXY header, also from this machine. (default: off)")
    var proxyProtocol: String?

    func run() throws {
        let sendsProxyHeader = try DoorOptions.expectsProxyHeaders(proxyProtocol)
        let deadline = ContinuousClock.now + HealthQuestion.timeMax
        var refusal: HealthError?
        for target in try targets() {
            do {
                return try HealthQuestion.ask(at: target, until: deadline, sendsProxyHeader: sendsProxyHeader)
            } catch {
                refusal = refusal ?? error
            }
        }
        if let refusal { throw refusal }
    }

    private func targets() throws -> [HealthTarget] {
        let listeners = try DoorOptions.listeners(listen) ?? [.tcp]
        if case .unix(let path)? = listeners.first, !listeners.contains(.tcp), host == nil, port == nil {
            return [.unix(path: path)]
        }
        let port = try port ?? Environment.value("PORT") { UInt16($0) } ?? 8080
        return HealthTarget.targets(host: host ?? Environment.text("HOST") ?? "127.0.0.1", port: port)
    }
}

/// The reason that a server is not known to be alive.
struct HealthError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// An address to check.
enum HealthTarget {
    /// The port at an IPv4 or IPv6 address.
    case tcp(address: String, port: UInt16)
    case unix(path: String)

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
        return addresses.map { .tcp(address: $0, port: port) }
    }
}

extension HealthTarget: CustomStringConvertible {
    /// The address as text: `127.0.0.1:8080`, `[::1]:8080` or `unix:/run/rivulet/rivulet.sock`.
    var description: String {
        switch self {
        case .tcp(let address, let port): (address.contains(":") ? "[\(address)]" : address) + ":\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// The value of `Host` in a request to the server.
    var host: String {
        switch self {
        case .tcp: description
        case .unix: "localhost"
        }
    }

    /// The options that name another server.
    var remedy: String {
        switch self {
        case .tcp: "--host and --port"
        case .unix: "--listen"
        }
    }
}
