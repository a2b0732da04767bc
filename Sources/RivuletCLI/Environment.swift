import ArgumentParser
import FoundationEssentials

/// The `RIVULET_…` variables of this process.
enum Environment {
    private static let prefix = "RIVULET_"

    /// All names that a command or the library reads, without their prefix.
    ///
    /// `unknownVariables()` warns of other names.
    static let names: Set<String> = [
        "DATA", "HOST", "LOG_BYTES_PER_SESSION", "LOG_FORMAT", "LOG_LEVEL", "MEMORY", "OLDER_SECRET_KEY",
        "OLDER_SECRET_KEY_FILE", "PORT", "PUBLIC", "REQUIRE_CLEAN", "SECRET_KEY", "SECRET_KEY_FILE", "SECURE_COOKIES",
        "STREAMS_PER_ADDRESS", "WORKERS",
        "LISTEN", "OPEN", "ALLOWED_HOSTS", "ALLOWED_ORIGINS", "PUBLIC_URL", "TRUSTED_PROXIES",
        "PROXY_PROTOCOL", "HSTS", "CONTENT_SECURITY_POLICY", "JWT_KEY_FILE", "JWT_ALG", "JWKS", "AUTH", "EXPLAIN_AUTH",
        "ISSUER", "AUDIENCE", "TOKEN_TYPE", "ROLES_CLAIM", "API_KEYS", "POLICY", "RATE_LIMITS",
        "CLUSTER", "NODE", "LEASE", "NATS_MONITOR", "NATS_SYNC_VERIFIED", "NATS_CREDS", "NATS_TOKEN_FILE",
    ]

    /// Returns the variable's text; nil if it is unset or empty, or if it is the address of a service.
    static func text(_ name: String) -> String? {
        precondition(names.contains(name), "Environment.names lacks \(name)")
        guard let text = ProcessInfo.processInfo.environment[prefix + name], !text.isEmpty else { return nil }
        return isServiceLink(name, text) ? nil : text
    }

    /// Returns the variable's value.
    ///
    /// - Throws: `ValidationError` with the variable's name if its text does not parse.
    static func value<Value>(_ name: String, _ parse: (String) -> Value?) throws -> Value? {
        guard let text = text(name) else { return nil }
        guard let value = parse(text) else {
            let values = Value.self == Bool.self ? "1, true or yes, or 0, false or no" : "a number"
            throw ValidationError("\(prefix)\(name) is \(values); found \"\(text)\"")
        }
        return value
    }

    /// Refuses an empty text of the option `--data`, which would mean the current folder.
    static func checkDataFolder(_ data: String) throws {
        guard data.isEmpty else { return }
        throw ValidationError(
            "--data is empty; name a folder, or \".\" for the current one, or leave the option out for ./data"
        )
    }

    /// Parses a switch: 1, true or yes, or 0, false or no.
    static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "1", "true", "yes": true
        case "0", "false", "no": false
        default: nil
        }
    }

    /// Returns one line with the names of the variables that no command reads; nil if there are none.
    static func unknownVariables() -> String? {
        let environment = ProcessInfo.processInfo.environment
        let unknown = environment.keys.filter { name in
            guard name.hasPrefix(prefix) else { return false }
            let rest = String(name.dropFirst(prefix.count))
            return !names.contains(rest) || isServiceLink(rest, environment[name] ?? "")
        }
        guard !unknown.isEmpty else { return nil }
        let shown = unknown.sorted().prefix(shownMax).map { name in
            let rest = String(name.dropFirst(prefix.count))
            guard !names.contains(rest), let near = Spelling.nearest(to: rest, among: names) else { return name }
            return "\(name) (is it \(prefix)\(near)?)"
        }
        let more = unknown.count > shownMax ? " and \(unknown.count - shownMax) more" : ""
        return
            "unknown variables are ignored: \(shown.joined(separator: ", "))\(more); `rivulet serve --help` lists the options"
    }

    /// The most unknown variables that the line names.
    private static let shownMax = 10

    /// Returns true if the variable is not a setting but the address of a service called rivulet.
    ///
    /// Docker links and Kubernetes set such variables in containers.
    /// Source: <https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables>
    private static func isServiceLink(_ name: String, _ text: String) -> Bool {
        name == "PORT" && (text.hasPrefix("tcp://") || text.hasPrefix("udp://"))
    }
}
