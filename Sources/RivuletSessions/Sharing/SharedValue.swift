public import RivuletStores

/// A ``StoredValue`` that is served to all clients of an app, at `…/values/{name}`.
public struct SharedValue: Sendable {
    /// The name in URLs, `[A-Za-z][A-Za-z0-9_-]{0,63}`.
    public let name: String
    package let host: any HostedValue

    /// Serves a value under a name, its key unless said otherwise.
    public init<Item: StorableItem>(_ value: StoredValue<Item>, name: String? = nil) {
        self.name = name ?? value.key
        host = ValueHost(value)
    }
}
