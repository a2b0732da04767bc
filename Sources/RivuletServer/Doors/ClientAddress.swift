import RivuletEventLoop

/// The client that sent a request, as far as the server believes the proxies in between.
///
/// The peer is the client, unless it is a trusted proxy. The fields of a trusted proxy are read from the right to the
/// left, because each proxy adds its own peer at the right end. The first address that is no trusted proxy is the
/// client:
///
///     X-Forwarded-For: 198.51.100.1, 203.0.113.7, 10.0.0.8
///
/// From the peer 10.0.0.7, with the trusted proxies 10.0.0.0/8, the client is 203.0.113.7. The text left of it came
/// from that client, and is not read. If an element that is read is no address, the client is the peer.
///
/// Source: RFC 7239; <https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/X-Forwarded-For>.
struct ClientAddress: Hashable, Sendable {
    /// The most elements of a field that are read; with more of them, the client is the peer.
    static let hopsMax = 32

    let ip: PeerAddress.IP
    /// True if `Forwarded` says that the client itself uses TLS.
    let usesTLS: Bool

    /// The key of limits for each address: the IPv4 address, or the /64 network of an IPv6 address.
    var limitKey: PeerAddress.IP { ip.limitKey }

    /// Makes the address of a client that no trusted proxy names.
    init(_ peer: PeerAddress.IP) {
        (ip, usesTLS) = (peer, false)
    }

    /// Reads the fields of a trusted proxy.
    ///
    /// If there are both fields, both must name the same client. Otherwise the proxy may have passed on a field as the
    /// client sent it, and the client is the peer.
    ///
    /// - Parameters:
    ///   - forwarded: The lines of `Forwarded`, in their order.
    ///   - forwardedFor: The lines of `X-Forwarded-For`, in their order.
    ///   - peer: The address of the trusted proxy.
    ///   - isTrusted: True for the addresses of trusted proxies.
    init(
        forwarded: [String],
        forwardedFor: [String],
        from peer: PeerAddress.IP,
        isTrusted: (PeerAddress.IP) -> Bool
    ) {
        let standard = Self.hop(in: forwarded, isTrusted: isTrusted) { ForwardedHop(forwarded: $0) }
        let older = Self.hop(in: forwardedFor, isTrusted: isTrusted) { ForwardedHop(forwardedFor: $0) }
        let found: ForwardedHop? =
            switch (forwarded.isEmpty, forwardedFor.isEmpty) {
            case (true, _): older
            case (false, true): standard
            case (false, false): standard?.ip == older?.ip ? standard : nil
            }
        (ip, usesTLS) = found.map { ($0.ip, $0.usesTLS) } ?? (peer, false)
    }

    /// Returns the nearest hop that is no trusted proxy, or the farthest hop if all are; nil if an element is no hop.
    private static func hop(
        in lines: [String],
        isTrusted: (PeerAddress.IP) -> Bool,
        read: (ArraySlice<UInt8>) -> ForwardedHop?
    ) -> ForwardedHop? {
        var farthest: ForwardedHop?
        var count = 0
        for line in lines.reversed() {
            var elements = ElementsFromRight(Array(line.utf8))
            while let element = elements.next() {
                count += 1
                guard count <= hopsMax, let hop = read(element) else { return nil }
                farthest = hop
                guard isTrusted(hop.ip) else { return hop }
            }
        }
        return farthest
    }
}

/// The elements of a list in a field, from the last to the first, without empty ones.
///
/// A comma in a quoted string is no delimiter. Reading from the right, the text of a client cannot change the elements
/// that proxies added after it, even if the text has an open quote.
private struct ElementsFromRight: IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ line: [UInt8]) { rest = line[...] }

    mutating func next() -> ArraySlice<UInt8>? {
        while !rest.isEmpty {
            let start = lastStart()
            let element = rest[start...].trimmed
            rest = start > rest.startIndex ? rest[..<(start - 1)] : []
            if !element.isEmpty { return element }
        }
        return nil
    }

    /// The start of the last element: the index after the last comma that is in no quoted string.
    private func lastStart() -> Int {
        var index = rest.endIndex
        while index > rest.startIndex {
            index -= 1
            if rest[index] == UInt8(ascii: ",") { return index + 1 }
            if rest[index] == UInt8(ascii: "\"") { index = openingQuote(before: index) ?? rest.startIndex }
        }
        return rest.startIndex
    }

    /// The index of the quote that opens the quoted string that ends at this index; nil if there is none.
    private func openingQuote(before end: Int) -> Int? {
        rest[..<end].indices.last { index in
            guard rest[index] == UInt8(ascii: "\"") else { return false }
            return rest[..<index].reversed().prefix { $0 == UInt8(ascii: "\\") }.count.isMultiple(of: 2)
        }
    }
}

/// One element of a field: the peer of a proxy, as the proxy saw it.
private struct ForwardedHop {
    let ip: PeerAddress.IP
    var usesTLS = false

    /// Reads an element of `X-Forwarded-For`: an address, with or without a port.
    init?(forwardedFor element: ArraySlice<UInt8>) {
        guard let ip = Self.address(element, needsBrackets: false) else { return nil }
        self.ip = ip
    }

    /// Reads an element of `Forwarded`, such as `for="[2001:db8::1]:443";proto=https`.
    ///
    /// The identifiers `unknown` and `_name` are no addresses.
    init?(forwarded element: ArraySlice<UInt8>) {
        let semicolon = UInt8(ascii: ";")
        var rest = element.drop { $0 == semicolon }
        var values: [[UInt8]: [UInt8]] = [:]
        while !rest.isEmpty {
            guard let (name, value) = Self.pair(from: &rest), values.updateValue(value, forKey: name) == nil else {
                return nil
            }
            rest = rest.drop { $0.isBlank }
            guard rest.isEmpty || rest.first == semicolon else { return nil }
            rest = rest.drop { $0 == semicolon || $0.isBlank }
        }
        guard let node = values[Array("for".utf8)], let ip = Self.address(node[...], needsBrackets: true) else {
            return nil
        }
        self.ip = ip
        usesTLS = values[Array("proto".utf8)].map { $0.lowercased == Array("https".utf8) } ?? false
    }

    /// Reads a parameter and its value, a token or a quoted string; the name is in lower case.
    private static func pair(from rest: inout ArraySlice<UInt8>) -> (name: [UInt8], value: [UInt8])? {
        let name = rest.prefix { $0.isToken }
        rest = rest.dropFirst(name.count)
        guard !name.isEmpty, rest.popFirst() == UInt8(ascii: "=") else { return nil }
        guard rest.first == UInt8(ascii: "\"") else {
            let value = rest.prefix { $0.isToken }
            rest = rest.dropFirst(value.count)
            return value.isEmpty ? nil : (name.lowercased, Array(value))
        }
        rest = rest.dropFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return (name.lowercased, value) }
            guard byte == UInt8(ascii: "\\") else {
                value.append(byte)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            value.append(escaped)
        }
        return nil
    }

    /// Reads `192.0.2.7`, `192.0.2.7:80`, `[2001:db8::1]`, `[2001:db8::1]:80` and, without brackets, `2001:db8::1`.
    ///
    /// `::` is no address of a client.
    private static func address(_ node: ArraySlice<UInt8>, needsBrackets: Bool) -> PeerAddress.IP? {
        let colon = UInt8(ascii: ":")
        var (host, port) = (node, ArraySlice<UInt8>())
        let isBracketed = node.first == UInt8(ascii: "[")
        if isBracketed {
            guard let end = node.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            (host, port) = (node[(node.startIndex + 1)..<end], node[(end + 1)...])
        } else if let first = node.firstIndex(of: colon), needsBrackets || first == node.lastIndex(of: colon) {
            (host, port) = (node[..<first], node[first...])
        }
        guard !isBracketed || host.contains(colon), port.isEmpty || isPort(port) else { return nil }
        guard let ip = PeerAddress.IP(String(decoding: host, as: UTF8.self)), ip != .unixSocket else { return nil }
        return ip
    }

    /// True for a colon with a number of at most five digits, or with an obfuscated port, such as `:_a1`.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        let port = text.dropFirst()
        guard text.first == UInt8(ascii: ":") else { return false }
        if port.first == UInt8(ascii: "_") {
            return port.count > 1 && port.allSatisfy { $0.isToken && !"!#$%&'*+^`|~".utf8.contains($0) }
        }
        return (1...5).contains(port.count) && port.allSatisfy { (0x30...0x39).contains($0) }
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// True for a character of a token.
    ///
    /// Source: RFC 9110 section 5.6.2.
    fileprivate var isToken: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without the blanks around them.
    fileprivate var trimmed: ArraySlice<UInt8> {
        let front = drop { $0.isBlank }
        return front.prefix(front.count - front.reversed().prefix { $0.isBlank }.count)
    }

    fileprivate var lowercased: [UInt8] { map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
}

extension [UInt8] {
    fileprivate var lowercased: [UInt8] { self[...].lowercased }
}
