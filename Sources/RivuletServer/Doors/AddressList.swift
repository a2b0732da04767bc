// A list of IP addresses and networks.

import RivuletEventLoop

/// The addresses of trusted proxies.
struct AddressList: Sendable {
    /// The most entries of a list.
    static let entriesMax = 1_000

    private var networks: [(address: PeerAddress.IP, bits: Int)] = []

    /// Makes a list of these entries: `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`.
    ///
    /// - Throws: a `ServerError` for an entry that is neither an address nor a network.
    init(_ entries: [String]) throws(ServerError) {
        guard entries.count <= Self.entriesMax else {
            throw ServerError("--trusted-proxies has \(entries.count) entries; it takes at most \(Self.entriesMax)")
        }
        for entry in entries {
            guard let network = Self.network(entry) else {
                throw ServerError(
                    "--trusted-proxies has \"\(entry)\", which is neither an address nor a network; write 10.0.0.7 or 10.0.0.0/8"
                )
            }
            networks.append(network)
        }
    }

    /// True if an entry covers this address.
    func contains(_ address: PeerAddress.IP) -> Bool {
        networks.contains { address.isEqual($0.address, bits: $0.bits) }
    }

    private static func network(_ text: String) -> (PeerAddress.IP, Int)? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = PeerAddress.IP(String(parts[0])) else { return nil }
        guard parts.count == 2 else { return (address, address.bitCount) }
        guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bits = Int(parts[1]),
            bits <= address.bitCount
        else { return nil }
        return (address, bits)
    }
}
