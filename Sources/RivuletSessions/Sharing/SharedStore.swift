public import RivuletEngine
public import RivuletStores

/// A ``Store`` that is served to all clients of an app, at `…/stores/{name}`.
///
/// `App` is the app that declares the store: `var stores: [SharedStore<Self>]`. It conforms to ``SharingApp``. Clients
/// see each change of the store as it happens, also a change that an effect or other code makes.
public struct SharedStore<App: AppDefinition>: Sendable {
    let resource: SharedResource<any HostedStore>

    /// The name in URLs, `[A-Za-z][A-Za-z0-9_-]{0,63}`.
    public var name: String { resource.name }

    /// Serves a store under a name.
    ///
    /// Clients can write items with any identifier that can end a URL. Such an identifier has 1 to 1,024 bytes without
    /// a NUL, and is not `.`, `..`, `events` or `operations`.
    public init<Item: StorableItem>(_ name: String, _ store: Store<Item>) where App: SharingApp {
        resource = SharedResource(name, store)
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
    public init<Item: StorableItem>(_ name: String, _ store: Store<Item>) {
        resource = SharedResource(name, store)
    }
}

extension SharedResource<any HostedStore> {
    package init<Item: StorableItem>(_ name: String, _ store: Store<Item>) {
        self.init(name: name, host: StoreHost(store))
    }
}
