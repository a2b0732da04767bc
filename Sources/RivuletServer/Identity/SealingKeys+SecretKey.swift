// Owns how the server's secret becomes the keys of securely stored values.

public import RivuletStores

extension SealingKeys {
    /// The keys that are derived from a secret, and from earlier ones, whose values still open.
    public init(_ secret: SecretKey, older: [SecretKey] = []) {
        self.init(secret.sealingKey, older: older.map(\.sealingKey))
    }
}

extension ServerOptions {
    /// The keys of the server's secret, for the securely stored values of its apps; nil without a ``secretKey``.
    public var sealingKeys: SealingKeys? {
        secretKey.map { SealingKeys($0, older: olderSecretKey.map { [$0] } ?? []) }
    }
}
