import Crypto

/// Makes the fingerprints of requests, which are kept on disk beside their answers.
///
/// A plain hash of a short body could be guessed by hashing what the body may have been; a keyed one needs the server's secret too. As bytes:
/// the name of the key, 8 bytes, and an HMAC-SHA256 of the request. The name tells those of another secret, and the plain SHA-256 that
/// earlier versions kept is known by its length.
struct RequestPrints: Sendable {
    private static let nameBytes = 8

    /// What is derived from one secret.
    private struct Key {
        let key: SymmetricKey
        /// Tells which key it is and nothing of it.
        let name: [UInt8]

        init(_ secret: SecretKey) {
            key = secret.derived(for: "rivulet idempotency fingerprint")
            let name = secret.derived(for: "rivulet idempotency fingerprint name")
            self.name = unsafe name.withUnsafeBytes { unsafe Array($0.prefix(nameBytes)) }
        }

        func fingerprint(of action: String, _ body: [UInt8]) -> [UInt8] {
            var code = HMAC<SHA256>(key: key)
            code.update(data: RequestPrints.subject(action))
            code.update(data: body)
            return name + Array(code.finalize())
        }
    }

    private let current: Key
    private let older: Key?

    init(_ secret: SecretKey, older: SecretKey? = nil) {
        current = Key(secret)
        self.older = older.map(Key.init)
    }

    /// The fingerprint of a request: what it does, and its body.
    func fingerprint(of action: String, _ body: [UInt8]) -> [UInt8] { current.fingerprint(of: action, body) }

    /// Whether a kept fingerprint is that of the request, or of a secret that is not here and so may be.
    ///
    /// Without the secret nobody can tell. The key is the client's and names one request, so that what comes under it is taken for a
    /// retry: a wrong 422 would leave the client without its answer, and doing the request anew would do it twice.
    func mayBe(_ kept: [UInt8], of action: String, _ body: [UInt8]) -> Bool {
        if kept.count == SHA256.byteCount { return kept == Self.plain(action, body) }
        let key = [current, older].compactMap(\.self).first { kept.starts(with: $0.name) }
        return key.map { kept == $0.fingerprint(of: action, body) } ?? true
    }

    /// The fingerprint as earlier versions kept it.
    private static func plain(_ action: String, _ body: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: subject(action))
        hash.update(data: body)
        return Array(hash.finalize())
    }

    /// What stands before the body; no action has a zero in it.
    private static func subject(_ action: String) -> [UInt8] { Array(action.utf8) + [0] }
}
