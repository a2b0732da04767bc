// The options of `rivulet serve` that determine which clients may use the server.

import ArgumentParser
import Rivulet

/// The hosts, pages and proxies that the server accepts, and the switch for access by other machines.
struct DoorOptions: ParsableArguments {
    @Flag(help: "Serve other machines although the server asks no client for credentials.")
    var open = false

    @Option(
        help: "Further hosts that requests may name: a.example,.b.example (a dot means all subdomains). (default: none)"
    )
    var allowedHosts: String?

    @Option(
        help: "Origins of pages that may use the server: http://localhost:5173,https://*.example.com. (default: none)"
    )
    var allowedOrigins: String?

    @Option(help: "The address under which clients know the server: https://rivulet.example. (default: its own)")
    var publicURL: String?

    @Option(help: "Proxies that the server trusts to name their clients: 10.0.0.7,10.1.0.0/16. (default: none)")
    var trustedProxies: String?

    @Option(
        help: "on: each connection begins with a PROXY header, version 1 or 2, of a trusted proxy. (default: off)"
    )
    var proxyProtocol: String?

    @Option(
        help: "Days for which browsers use https only for this host; needs an https --public-url. (default: none)"
    )
    var hsts: Int?

    @Option(help: "The Content-Security-Policy of the pages in the public folder. (default: that of Rivulet's pages)")
    var contentSecurityPolicy: String?

    /// Applies these options and their variables.
    func apply(to options: inout ServerOptions) throws {
        if try open || Environment.value("OPEN", Environment.flag) ?? false { options.access = .open }
        options.allowedHosts = Self.list(allowedHosts ?? Environment.text("ALLOWED_HOSTS"))
        options.allowedOrigins = Self.list(allowedOrigins ?? Environment.text("ALLOWED_ORIGINS"))
        options.publicURL = publicURL ?? Environment.text("PUBLIC_URL")
        options.trustedProxies = Self.list(trustedProxies ?? Environment.text("TRUSTED_PROXIES"))
        options.expectsProxyHeaders = try Self.expectsProxyHeaders(proxyProtocol)
        options.hstsDays = try hsts ?? Environment.value("HSTS") { Int($0) }
        if let policy = contentSecurityPolicy ?? Environment.text("CONTENT_SECURITY_POLICY") {
            options.contentSecurityPolicy = policy
        }
    }

    /// Returns true if the option, or its variable, is on.
    static func expectsProxyHeaders(_ option: String?) throws -> Bool {
        switch option ?? Environment.text("PROXY_PROTOCOL") ?? "off" {
        case "on": return true
        case "off": return false
        case let text:
            let name = option == nil ? "RIVULET_PROXY_PROTOCOL" : "--proxy-protocol"
            throw ValidationError("\(name) is on or off; found \"\(text)\"")
        }
    }

    /// Returns the listeners that the options `--listen` name, or their variable; nil if there are none.
    static func listeners(_ options: [String]) throws -> [ServerListener]? {
        let entries = options.isEmpty ? list(Environment.text("LISTEN")) : options.flatMap { list($0) }
        return entries.isEmpty ? nil : try entries.map { entry in try ServerListener(entry) }
    }

    /// Returns the entries of a comma-separated list, without the spaces around them.
    static func list(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",").map { entry in
            String(entry.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }.filter { !$0.isEmpty }
    }
}
