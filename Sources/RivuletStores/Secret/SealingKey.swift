package import Crypto

/// A key derived from a secret.
///
/// The key's name identifies the key and reveals nothing of it.
public struct SealingKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The least number of bytes of a secret.
    public static let secretBytesMin = 32

    static let nameBytes = 8

    let key: SymmetricKey
    let name: [UInt8]

    /// Derives the key from a secret; nil if the secret has fewer than 32 bytes.
    ///
    /// Source: RFC 5869.
    public init?(secret: some Sequence<UInt8>) {
        let secret = SymmetricKey(data: Array(secret))
        guard secret.bitCount >= Self.secretBytesMin * 8 else { return nil }
        self.init(derivedFrom: secret)
    }

    /// Derives the key from a secret of sufficient length.
    package init(derivedFrom secret: SymmetricKey) {
        key = Self.derived(from: secret, for: "rivulet sealed value", byteCount: 32)
        let name = Self.derived(from: secret, for: "rivulet sealed value key name", byteCount: Self.nameBytes)
        self.name = unsafe name.withUnsafeBytes { unsafe Array($0) }
    }

    private static func derived(from secret: SymmetricKey, for purpose: String, byteCount: Int) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: secret, info: Array(purpose.utf8), outputByteCount: byteCount)
    }

    /// The name of the type only, without any part of the key.
    public var description: String { "SealingKey" }

    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The keys of sealed values: one key that seals values, and earlier keys that still open values.
public struct SealingKeys: Sendable {
    /// The key that seals and opens.
    public let current: SealingKey
    /// The keys that only open.
    ///
    /// Keep each older key as long as values are sealed with it.
    public let older: [SealingKey]

    /// Creates the keys: the current key, and its predecessors.
    public init(_ current: SealingKey, older: [SealingKey] = []) {
        self.current = current
        self.older = older
    }
}
