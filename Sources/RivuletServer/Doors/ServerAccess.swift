// The clients for which a server is meant.

import RivuletEventLoop

/// The clients that may use a server that asks for no credentials.
public enum ServerAccess: Hashable, Sendable {
    /// Clients on this machine only: a server with a port on an address other than a loopback address does not start.
    case protected
    /// All clients that reach the address.
    case open

    /// The warning about a server that every client can use.
    static let notice =
        "This server is open: every client that reaches it may read and write everything. Protect it with a firewall or a proxy that asks "
        + "for credentials."

    /// True if other machines reach a server that listens on this host; nil stands for Unix sockets alone.
    ///
    /// The result is false for a host that is no address, because no server can listen on it. The zone of an IPv6
    /// address, as in `fe80::1%eth0`, is ignored.
    static func isExposed(_ host: String?) -> Bool {
        host.flatMap { host in PeerAddress.IP(String(host.prefix { $0 != "%" })) }.map { !$0.isLoopback } ?? false
    }

    /// - Throws: a `ServerError` when other machines reach the server, it asks for no credentials, and the access is
    ///   not `open`.
    func check(host: String?, publicURL: String?, hasCredentials: Bool) throws(ServerError) {
        guard self == .protected, !hasCredentials else { return }
        let remedy =
            "let callers sign in with --jwt-key-file, --jwks, --auth or --api-keys, or let every client in with --open (RIVULET_OPEN=1)"
        if let host, Self.isExposed(host) {
            throw ServerError(
                "other machines reach \(host), and this server asks no client for credentials; listen on 127.0.0.1, \(remedy)"
            )
        }
        guard let publicURL else { return }
        throw ServerError(
            "--public-url \(publicURL) is for clients on other machines, and this server asks no client for credentials; leave the option out, "
                + remedy
        )
    }
}
