// Which clients a server is for.

import RivuletEventLoop

/// Which clients may use a server that asks for no credentials.
public enum ServerAccess: Hashable, Sendable {
    /// Those on this machine: a server that listens on another address than a loopback one does not start.
    case protected
    /// All that reach the address.
    case open

    /// The line that warns of a server which anyone can use.
    static let notice =
        "This server is open: every client that reaches it may read and write everything. Protect it with a firewall or a proxy that asks "
        + "for credentials."

    /// Whether other machines reach a server that listens on this host; false for a host that is no address, on which none can listen.
    ///
    /// An IPv6 address may have a zone, as in `fe80::1%eth0`, which does not count.
    static func isExposed(_ host: String) -> Bool {
        PeerAddress.IP(String(host.prefix { $0 != "%" })).map { !$0.isLoopback } ?? false
    }

    /// - Throws: a `ServerError` when a server on this host would be open without saying so.
    func check(host: String) throws(ServerError) {
        guard self == .protected, Self.isExposed(host) else { return }
        throw ServerError(
            "other machines reach \(host), and this server asks no client for credentials; listen on 127.0.0.1, or let every client in "
                + "with --open (RIVULET_OPEN=1)"
        )
    }
}
