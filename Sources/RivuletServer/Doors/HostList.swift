// The hosts that a server answers for.

import RivuletEventLoop

/// The hosts that requests may name: those that a page of another site cannot point at this server.
///
/// DNS rebinding makes a page's own host name lead to this machine: the browser then takes the page and the server for one origin, and only
/// `Host` still has the foreign name. So every IP address passes, and of names those that are listed, `localhost` and `*.localhost`.
/// Ports, letter case and one dot at the end do not count.
struct HostList: Sendable {
    /// The most entries of a list that an operator gives.
    static let entriesMax = 1_000
    /// The most bytes of a host name.
    ///
    /// Source: RFC 1035 section 2.3.4.
    static let nameBytesMax = 253

    private var names: Set<String> = ["localhost"]
    /// Each begins with a dot, and stands for all names that end so.
    private var suffixes: [String] = [".localhost"]

    /// A list of these entries: `a.example`, or `.b.example` for the subdomains of b.example.
    ///
    /// - Parameters:
    ///   - entries: What the operator allows.
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

    /// Whether the server answers for a host, with or without a port, as a request names it.
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

    /// The host of an authority, in its brackets where it has some.
    static func withoutPort(_ authority: String) -> Substring {
        guard authority.hasPrefix("["), let end = authority.firstIndex(of: "]") else {
            return authority.prefix { $0 != ":" }
        }
        return authority[...end]
    }

    /// A name without the one dot that may stand at its end.
    static func withoutDot(_ name: Substring) -> Substring { name.hasSuffix(".") ? name.dropLast() : name }

    /// A host without the brackets of an IPv6 address; nil where they are not a pair.
    static func bare(_ host: Substring) -> Substring? {
        guard host.hasPrefix("[") else { return host }
        return host.hasSuffix("]") ? host.dropFirst().dropLast() : nil
    }

    /// Whether the text, in lower case, is a name as browsers send it: an international one is in its `xn--` form.
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
