// The origin of a page.

/// A scheme, a host and a port, in a form in which equal origins have equal parts.
///
/// Source: RFC 6454 sections 4 and 6, <https://html.spec.whatwg.org/multipage/browsers.html#origin>.
struct WebOrigin: Hashable, Sendable {
    /// The scheme in lower case: "https".
    let scheme: String
    /// The host in lower case; an IPv6 address is in brackets.
    let host: String
    /// The port; nil if the origin has none and its scheme has no default port, as for an app's own web view.
    let port: UInt16?

    /// Reads an origin that is written as `https://a.example` or `http://localhost:5173`; nil for other text, and so
    /// for `null`.
    init?(_ text: some StringProtocol) {
        let text = text.lowercased()
        guard let mark = text.firstRange(of: "://") else { return nil }
        scheme = String(text[..<mark.lowerBound])
        guard Self.isScheme(scheme) else { return nil }
        let authority = String(text[mark.upperBound...])
        host = String(HostList.withoutPort(authority))
        guard let bare = HostList.bare(host[...]) else { return nil }
        let name = HostList.withoutDot(bare)
        guard host.hasPrefix("[") ? Self.isAddress(bare) : HostList.isName(name) else { return nil }
        let rest = authority.dropFirst(host.count)
        if rest.isEmpty {
            port = Self.defaultPort(of: scheme)
        } else {
            guard let number = Self.port(rest) else { return nil }
            port = number
        }
    }

    /// True if this origin has the host and the port in `authority`, to which a request was sent; the schemes may
    /// differ.
    ///
    /// The server does not know if a proxy in front of it speaks TLS. A host without a port has the default port of the
    /// page's scheme.
    func isOf(host authority: String) -> Bool {
        guard scheme == "http" || scheme == "https" else { return false }
        let authority = authority.lowercased()
        guard isSameHost(as: authority) else { return false }
        let rest = authority.dropFirst(host.count)
        // "h:" has an empty port, which is the same as no port. Source: RFC 3986 section 3.2.3.
        return (rest.count > 1 ? Self.port(rest) : Self.defaultPort(of: scheme)) == port
    }

    /// True if the host of a request is the page's host; the ports are ignored.
    func isSameHost(as authority: String) -> Bool { HostList.withoutPort(authority.lowercased()) == host }

    private static func defaultPort(of scheme: String) -> UInt16? {
        switch scheme {
        case "http": 80
        case "https": 443
        default: nil
        }
    }

    /// The number after the colon.
    private static func port(_ text: Substring) -> UInt16? {
        guard text.hasPrefix(":"), (2...6).contains(text.utf8.count), text.utf8.dropFirst().allSatisfy(isDigit) else {
            return nil
        }
        return UInt16(text.dropFirst())
    }

    private static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || isDigit($0) || [0x2B, 0x2D, 0x2E].contains($0) }
    }

    private static func isAddress(_ text: Substring) -> Bool {
        text.utf8.allSatisfy {
            isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) || $0 == UInt8(ascii: ":")
                || $0 == UInt8(ascii: ".")
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
