// The hosts for which a server answers.

import RivuletEventLoop

/// The hosts that requests may name, as a protection against DNS rebinding.
///
/// DNS rebinding makes the host name of a foreign page lead to this machine. The browser then takes the page and the
/// server for one origin, and only `Host` still has the foreign name. So every IP address passes. Of all names, only
/// `localhost`, `*.localhost` and the listed names pass. Ports, letter case and one dot at the end are ignored.
struct HostList: Sendable {
    /// The most entries of a list that an operator gives.
    static let entriesMax = 1_000
    /// The most bytes of a host name.
    ///
    /// Source: RFC 1035 section 2.3.4.
    static let nameBytesMax = 253

    private var names: Set<String> = ["localhost"]
    /// Suffixes that begin with a dot; each allows all names that end with it.
    private var suffixes: [String] = [".localhost"]

    /// Makes a list of these entries: `a.example`, or `.b.example` for the subdomains of b.example.
    ///
    /// - Parameters:
    ///   - entries: The hosts that the operator allows.
    ///   - further: Names that are allowed as well: the machine's, and the public URL's.
    /// - Throws: a `ServerError` for an entry that is no host name.
    init(_ entries: [String], and further: [String] = []) throws(ServerError) {
        guard entries.count <= Self.entriesMax else {
            throw ServerError("--allowed-hosts has \(entries.count) entries; it takes at most \(Self.entriesMax)")
        }
        for entry in entries {
            let name = entry.lowercased()
            if let address = Self.bare(name[...]), PeerAddress.IP(String(address)) != nil { continue }
            guard Self.isName(name.hasPrefix(".") ? name.dropFirst() : name[...]) else {
                throw ServerError(
                    "--allowed-hosts has \"\(entry)\", which is no host name; write names as a.example, or .b.example for all "
                        + "subdomains, without scheme, port and path"
                )
            }
            if name.hasPrefix(".") { suffixes.append(name) } else { names.insert(name) }
        }
        for name in further {
            let name = Self.withoutDot(name.lowercased()[...])
            if !name.isEmpty { names.insert(String(name)) }
        }
    }

    /// True if the server answers for a host, as a request names it, with or without a port.
    func contains(_ authority: String) -> Bool {
        let lowercased = authority.lowercased()
        let named = Self.withoutPort(lowercased)
        let rest = lowercased[named.endIndex...]
        guard rest.isEmpty || rest.hasPrefix(":"), let bare = Self.bare(named) else { return false }
        if PeerAddress.IP(String(bare)) != nil { return true }
        guard !named.hasPrefix("[") else { return false }
        let host = Self.withoutDot(bare)
        if PeerAddress.IP(String(host)) != nil { return true }
        guard !names.contains(String(host)) else { return true }
        return suffixes.contains { suffix in
            guard host.hasSuffix(suffix) else { return false }
            return Self.isName(host.dropLast(suffix.count))
        }
    }

    /// True if an authority names this machine: `localhost`, a name below it, or an address of loopback.
    static func isLoopback(_ authority: String) -> Bool {
        guard let bare = bare(withoutPort(authority.lowercased())) else { return false }
        if let address = PeerAddress.IP(String(bare)) { return address.isLoopback }
        let name = withoutDot(bare)
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// The host of an authority, with the brackets of an IPv6 address.
    static func withoutPort(_ authority: String) -> Substring {
        guard authority.hasPrefix("["), let end = authority.firstIndex(of: "]") else {
            return authority.prefix { $0 != ":" }
        }
        return authority[...end]
    }

    /// A name without the one dot that may be at its end.
    static func withoutDot(_ name: Substring) -> Substring { name.hasSuffix(".") ? name.dropLast() : name }

    /// A host without the brackets of an IPv6 address; nil if they are not a pair.
    static func bare(_ host: Substring) -> Substring? {
        guard host.hasPrefix("[") else { return host }
        return host.hasSuffix("]") ? host.dropFirst().dropLast() : nil
    }

    /// True if the text, in lower case, is a name as browsers send it: an international name is in its `xn--` form.
    static func isName(_ text: Substring) -> Bool {
        guard (1...nameBytesMax).contains(text.utf8.count) else { return false }
        return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty
                && label.utf8.allSatisfy { byte in
                    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
                        || byte == UInt8(ascii: "_")
                }
        }
    }
}
