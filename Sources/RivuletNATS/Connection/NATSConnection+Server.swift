internal import Logging
internal import RivuletCluster

/// The messages of a server about itself.
extension NATSConnection {
    /// Takes the description that a server sends first, and again when something changes.
    func take(_ info: NATSServerInfo) throws(LogError) {
        let isFirst = self.info == nil
        self.info = info
        messageBytesMax = info.maxPayloadBytes
        guard isFirst else {
            if info.isLameDuck { drain() }
            return
        }
        try check(info)
        try greet(info)
    }

    private func check(_ info: NATSServerInfo) throws(LogError) {
        guard !info.wantsTLS else {
            throw .incompatible(
                detail: """
                    The NATS server \(server) wants TLS, which the NATS client does not have. Use a private network or \
                    a tunnel, and a listener without TLS.
                    """
            )
        }
        if let problem = NATSVersion.problem(of: info.version, at: server.description) {
            throw .incompatible(detail: problem)
        }
        guard info.hasHeaders, info.hasJetStream else {
            throw .incompatible(
                detail: """
                    The NATS server \(server) has no JetStream. Add a `jetstream` block with a `store_dir` and \
                    `sync_interval: always` to its configuration.
                    """
            )
        }
    }

    /// Takes an error of the server.
    ///
    /// The server closes the connection after each but those about subjects and permissions.
    /// Source: <https://docs.nats.io/reference/reference-protocols/nats-protocol#ok-err>
    func takeError(_ text: String) throws(LogError) {
        let lower = text.lowercased()
        if lower.hasPrefix("permissions violation") || lower.hasPrefix("invalid subject") {
            logger.error("the NATS server \(server) refused a command: \(text). Allow it in the user's permissions.")
            return
        }
        if lower.hasPrefix("authorization") || lower.hasPrefix("user authentication") || lower.contains("account") {
            throw .unavailable(
                detail: """
                    The NATS server \(server) refused the credentials: \(text). Check the user and password, the token \
                    or the .creds file.
                    """
            )
        }
        throw .unavailable(detail: "The NATS server \(server) ended the connection: \(text).")
    }
}

extension NATSVersion {
    /// The reason that a server's version cannot be used; nil if it can.
    static func problem(of text: String, at server: String) -> String? {
        guard let version = NATSVersion(text), version >= least else {
            return """
                The NATS server \(server) has version \(text), which may lose acknowledged messages. Upgrade all NATS \
                servers to \(least) or later.
                """
        }
        return nil
    }
}
