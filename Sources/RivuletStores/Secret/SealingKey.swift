package import Crypto

/// A key made of a secret, with a name that tells which key it is and nothing of it.
public struct SealingKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The least bytes of a secret.
    public static let secretBytesMin = 32

    static let nameBytes = 8

    let key: SymmetricKey
    let name: [UInt8]

    /// Derives the key from a secret; nil when that has fewer than 32 bytes.
    ///
    /// Source: RFC 5869.
    public init?(secret: some Sequence<UInt8>) {
        let secret = SymmetricKey(data: Array(secret))
        guard secret.bitCount >= Self.secretBytesMin * 8 else { return nil }
        self.init(derivedFrom: secret)
    }

    /// Derives the key from a secret that is long enough.
    package init(derivedFrom secret: SymmetricKey) {
        key = Self.derived(from: secret, for: "rivulet sealed value", byteCount: 32)
        let name = Self.derived(from: secret, for: "rivulet sealed value key name", byteCount: Self.nameBytes)
        self.name = unsafe name.withUnsafeBytes { unsafe Array($0) }
    }

    private static func derived(from secret: SymmetricKey, for purpose: String, byteCount: Int) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: secret, info: Array(purpose.utf8), outputByteCount: byteCount)
    }

    /// Says that there is one, and not which.
    public var description: String { "SealingKey" }

    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The keys of sealed values: one that seals, and earlier ones that still open.
public struct SealingKeys: Sendable {
    /// What seals and opens.
    public let current: SealingKey
    /// What still opens, for as long as there are values sealed with it.
    public let older: [SealingKey]

    /// One key, and earlier ones of it.
    public init(_ current: SealingKey, older: [SealingKey] = []) {
        self.current = current
        self.older = older
    }
}
