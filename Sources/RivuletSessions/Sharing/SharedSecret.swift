public import RivuletEngine
public import RivuletStores

/// A ``SecurelyStoredValue`` that clients of an app can set and remove, and never read, at `…/secrets/{name}`.
///
/// `App` is the app that declares the secret: `var secrets: [SharedSecret<Self>]`. It conforms to ``SharingApp``.
public struct SharedSecret<App: AppDefinition>: Sendable {
    let resource: SharedResource<any HostedSecret>

    /// The name in URLs, `[A-Za-z][A-Za-z0-9_-]{0,63}`.
    public var name: String { resource.name }

    /// Serves a secret under a name; the default name is the secret's key.
    public init<Item: StorableItem>(_ secret: SecurelyStoredValue<Item>, name: String? = nil) where App: SharingApp {
        resource = SharedResource(secret, name: name)
    }

    /// Refuses an app that is no ``SharingApp``.
    ///
    /// It never runs, because code that would call it does not compile.
    @available(
        *,
        unavailable,
        message: """
            a server looks for stores, values and secrets only in an app that conforms to SharingApp: write SharingApp instead of \
            AppDefinition
            """
    )
    public init<Item: StorableItem>(_ secret: SecurelyStoredValue<Item>, name: String? = nil) {
        resource = SharedResource(secret, name: name)
    }
}

extension SharedResource<any HostedSecret> {
    package init<Item: StorableItem>(_ secret: SecurelyStoredValue<Item>, name: String? = nil) {
        self.init(name: name ?? secret.key, host: SecretHost(secret))
    }
}
