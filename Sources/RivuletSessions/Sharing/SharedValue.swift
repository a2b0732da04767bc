public import RivuletEngine
public import RivuletStores

/// A ``StoredValue`` that is served to all clients of an app, at `…/values/{name}`.
///
/// `App` is the app that declares the value: `var values: [SharedValue<Self>]`. It conforms to ``SharingApp``.
public struct SharedValue<App: AppDefinition>: Sendable {
    let resource: SharedResource<any HostedValue>

    /// The name in URLs, `[A-Za-z][A-Za-z0-9_-]{0,63}`.
    public var name: String { resource.name }

    /// Serves a value under a name; the default name is the value's key.
    public init<Item: StorableItem>(_ value: StoredValue<Item>, name: String? = nil) where App: SharingApp {
        resource = SharedResource(value, name: name)
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
    public init<Item: StorableItem>(_ value: StoredValue<Item>, name: String? = nil) {
        resource = SharedResource(value, name: name)
    }
}

extension SharedResource<any HostedValue> {
    package init<Item: StorableItem>(_ value: StoredValue<Item>, name: String? = nil) {
        self.init(name: name ?? value.key, host: ValueHost(value))
    }
}
