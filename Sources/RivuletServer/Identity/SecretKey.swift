import Crypto
public import RivuletStores

/// A secret that only the server's operator knows.
///
/// A person with the secret can act as any browser. The secret is in no log and in no description.
public struct SecretKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The fewest bytes of a secret.
    public static let bytesMin = 32

    /// The source of a secret.
    enum Origin: Equatable {
        /// Made for this run.
        case made
        /// Given as text.
        case given
        /// Kept in this file; `isNew` is true if this start made the file.
        case file(String, isNew: Bool)
    }

    let origin: Origin
    private let key: SymmetricKey

    /// Makes a random secret of 256 bits.
    public init() {
        key = SymmetricKey(size: .bits256)
        origin = .made
    }

    /// Takes the bytes of a text without the white space around it; `openssl rand -hex 32` makes a good one.
    ///
    /// - Throws: `ServerError` when there are fewer than `bytesMin` bytes.
    public init(_ text: String) throws(ServerError) {
        try self.init(text, from: .given)
    }

    /// Takes the bytes of a text, which comes from this origin.
    init(_ text: String, from origin: Origin) throws(ServerError) {
        let bytes = Self.trimmed(text)
        guard bytes.count >= Self.bytesMin else {
            let size = "has \(bytes.count) bytes and needs \(Self.bytesMin)"
            guard case .file(let path, _) = origin else {
                throw ServerError("the secret key \(size); make one with: openssl rand -hex 32")
            }
            throw ServerError(
                "the secret key file \(path) \(size); restore it from a backup. Without it the cookies of me and sealed values are lost"
            )
        }
        key = SymmetricKey(data: Array(bytes))
        self.origin = origin
    }

    /// The key for one purpose; it reveals nothing about the keys for other purposes.
    ///
    /// Source: RFC 5869.
    func derived(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Array(purpose.utf8), outputByteCount: SHA256.byteCount)
    }

    /// The key for sealing values; `SealingKey(secret:)` makes the same key from the same bytes.
    var sealingKey: SealingKey { SealingKey(derivedFrom: key) }

    /// The name of the type only, so that no text contains the secret.
    public var description: String { "SecretKey" }

    /// An empty mirror, so that no dump contains the secret.
    public var customMirror: Mirror { Mirror(self, children: []) }

    private static func trimmed(_ text: String) -> ArraySlice<UInt8> {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        var bytes = Array(text.utf8).drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return bytes
    }
}

extension SealingKeys {
    /// Derives the keys from a secret and from earlier secrets, so that values sealed under an earlier secret can be
    /// opened.
    public init(_ secret: SecretKey, older: [SecretKey] = []) {
        self.init(secret.sealingKey, older: older.map(\.sealingKey))
    }
}

extension ServerOptions {
    /// The sealing keys for apps' secrets, made from the server's secret and its older secret; nil without a
    /// ``secretKey``.
    public var sealingKeys: SealingKeys? {
        secretKey.map { SealingKeys($0, older: olderSecretKey.map { [$0] } ?? []) }
    }
}
