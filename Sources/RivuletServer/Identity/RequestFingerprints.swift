import Crypto

/// Makes the fingerprints of requests, which are kept on disk beside their answers.
///
/// From a plain hash, a reader of the disk could guess a short body by hashing probable bodies. For a keyed hash, the
/// reader would also need the server's secret. The bytes of a fingerprint are the 8-byte name of the key and an
/// HMAC-SHA256 of the request. The name shows under which secret a fingerprint was made. Earlier versions kept a plain
/// SHA-256, which is recognised by its length.
struct RequestFingerprints: Sendable {
    private static let nameBytes = 8

    /// The values that are derived from one secret.
    private struct Key {
        let key: SymmetricKey
        /// Identifies the key and reveals nothing else of it.
        let name: [UInt8]

        init(_ secret: SecretKey) {
            key = secret.derived(for: "rivulet idempotency fingerprint")
            let name = secret.derived(for: "rivulet idempotency fingerprint name")
            self.name = unsafe name.withUnsafeBytes { unsafe Array($0.prefix(nameBytes)) }
        }

        func fingerprint(of action: String, _ body: [UInt8]) -> [UInt8] {
            var code = HMAC<SHA256>(key: key)
            code.update(data: RequestFingerprints.subject(action))
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

    /// The fingerprint of a request: its action and its body.
    func fingerprint(of action: String, _ body: [UInt8]) -> [UInt8] { current.fingerprint(of: action, body) }

    /// True if a kept fingerprint is that of the request, or was made under a secret that this server does not have.
    ///
    /// Without the secret, no comparison is possible. A client's idempotency key names one request, so this request is
    /// treated as a retry. A wrong 422 would leave the client without its answer, and a repetition under another key
    /// would apply the request twice.
    func mayBe(_ kept: [UInt8], of action: String, _ body: [UInt8]) -> Bool {
        if kept.count == SHA256.byteCount { return kept == Self.plain(action, body) }
        let key = [current, older].compactMap(\.self).first { kept.starts(with: $0.name) }
        return key.map { kept == $0.fingerprint(of: action, body) } ?? true
    }

    /// The fingerprint in the form that earlier versions kept.
    private static func plain(_ action: String, _ body: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: subject(action))
        hash.update(data: body)
        return Array(hash.finalize())
    }

    /// The bytes before the body; they end with a zero, which no action contains.
    private static func subject(_ action: String) -> [UInt8] { Array(action.utf8) + [0] }
}
