/// The address of a NATS server.
package struct NATSServer: Hashable, Sendable, CustomStringConvertible {
    /// The user and password, or the token, of a URL.
    package enum Login: Hashable, Sendable {
        case password(user: String, password: String)
        case token(String)
    }

    package let host: String
    package let port: UInt16
    /// The login of the URL; nil if it has none.
    package let login: Login?

    package init(host: String, port: UInt16, login: Login? = nil) {
        (self.host, self.port, self.login) = (host, port, login)
    }

    /// The host and port; the login is not for logs.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Reads a list such as "nats://user:password@a:4222,nats://b,c".
    ///
    /// The default port is 4222. Reserved characters of a user and a password are percent-encoded.
    package static func list(_ text: String) throws(NATSServerError) -> [NATSServer] {
        var servers: [NATSServer] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let server = try NATSServer(url: part.drop(while: \.isWhitespace))
            if !servers.contains(server) { servers.append(server) }
        }
        return servers
    }

    private init(url: Substring) throws(NATSServerError) {
        var rest = url
        if let end = url.firstRange(of: "://") {
            let scheme = url[..<end.lowerBound].lowercased()
            guard scheme != "tls" else { throw .tls }
            guard scheme == "nats" else { throw .scheme(String(scheme)) }
            rest = url[end.upperBound...]
        }
        if rest.last == "/" { rest.removeLast() }
        var login: Login?
        if let at = rest.lastIndex(of: "@") {
            let names = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = Self.decoded(names[0]), !first.isEmpty else { throw .invalid }
            if names.count == 1 {
                login = .token(first)
            } else {
                guard let password = Self.decoded(names[1]) else { throw .invalid }
                login = .password(user: first, password: password)
            }
            rest = rest[rest.index(after: at)...]
        }
        let (host, port): (Substring, Substring?)
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { throw .invalid }
            host = rest[rest.index(after: rest.startIndex)..<end]
            let behind = rest[rest.index(after: end)...]
            guard behind.isEmpty || behind.first == ":" else { throw .invalid }
            port = behind.isEmpty ? nil : behind.dropFirst()
        } else {
            let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 1 || parts.count == 2 else { throw .invalid }
            (host, port) = (parts[0], parts.count == 2 ? parts[1] : nil)
        }
        let isHost = !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
        guard isHost else { throw .invalid }
        guard let number = port.map({ UInt16($0) }) ?? 4_222, number > 0 else { throw .invalid }
        self.init(host: String(host), port: number, login: login)
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16), rest.count >= 2 else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// The reason that an address of a NATS server is refused; no text has the address, which may have a password.
package enum NATSServerError: Error, Hashable, Sendable, CustomStringConvertible {
    case tls
    case scheme(String)
    case invalid

    package var description: String {
        switch self {
        case .tls:
            "tls:// is not supported: the NATS client has no TLS. Use nats:// in a private network or a tunnel."
        case .scheme(let name): "The scheme \(name):// is not one of NATS. Use nats://host:port."
        case .invalid: "An address of a NATS server is not valid. Use nats://[user:password@]host[:port]."
        }
    }
}
