public import RivuletStores

/// A ``SecurelyStoredValue`` that clients of an app can set and remove, and never read, at `…/secrets/{name}`.
public struct SharedSecret: Sendable {
    /// The name in URLs, `[A-Za-z][A-Za-z0-9_-]{0,63}`.
    public let name: String
    package let host: any HostedSecret

    /// Serves a secret under a name, its key unless said otherwise.
    public init<Item: StorableItem>(_ secret: SecurelyStoredValue<Item>, name: String? = nil) {
        self.name = name ?? secret.key
        host = SecretHost(secret)
    }
}
