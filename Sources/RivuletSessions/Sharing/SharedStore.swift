public import RivuletStores

/// A ``Store`` that is served to all clients of an app, at `…/stores/{name}`.
///
/// Whatever else the app does with the store, in effects or elsewhere, clients see it as it happens.
public struct SharedStore: Sendable {
    /// The name in URLs, `[A-Za-z][A-Za-z0-9_-]{0,63}`.
    public let name: String
    package let host: any HostedStore

    /// Serves a store under a name.
    ///
    /// Clients write items of any identifier but those that a URL cannot end in: an empty one, `.`, `..`, `events` and `operations`.
    public init<Item: StorableItem>(_ name: String, _ store: Store<Item>) {
        self.name = name
        host = StoreHost(store)
    }
}
