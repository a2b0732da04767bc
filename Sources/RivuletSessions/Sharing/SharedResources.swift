import RivuletEngine
package import RivuletStores

/// The stores, values and secrets of an app, by their names.
package struct SharedResources: Sendable {
    /// The stores in the order of their declaration.
    package let stores: [SharedResource<any HostedStore>]
    /// The values in the order of their declaration.
    package let values: [SharedResource<any HostedValue>]
    /// The secrets in the order of their declaration.
    package let secrets: [SharedResource<any HostedSecret>]

    /// Takes the resources that an app declares; an app that is no ``SharingApp`` has none.
    ///
    /// A cast finds the conformance, once per app. With two overloads, generic code, such as a test server's, would
    /// always choose the overload for apps without resources.
    init(of app: some AppDefinition) {
        let app = app as? any SharingApp
        stores = app?.storeResources ?? []
        values = app?.valueResources ?? []
        secrets = app?.secretResources ?? []
    }

    /// The reason why the resources cannot be served, in words for the app's author; nil if they can.
    var fault: String? {
        Self.fault(of: stores.map(\.name), "store") ?? Self.fault(of: values.map(\.name), "value")
            ?? Self.fault(of: secrets.map(\.name), "secret")
            ?? SharedLocation.clash(in: locations).map { clash in
                "\(clash.first.owner) and \(clash.second.owner) are stored in the same collection, \"\(clash.first.collection.name)\", "
                    + "so that neither would see the other's writes; give one of them another collection"
            }
    }

    private static func fault(of names: [String], _ kind: String) -> String? {
        for name in names {
            if name.wholeMatch(of: /[A-Za-z][A-Za-z0-9_-]{0,63}/) == nil {
                return "the \(kind) name \"\(name)\" cannot be in a URL; use [A-Za-z][A-Za-z0-9_-]{0,63}"
            }
            if names.count(where: { $0 == name }) > 1 { return "two \(kind)s are named \"\(name)\"; rename one" }
        }
        return nil
    }

    /// The storage locations of all resources.
    package var locations: [SharedLocation] {
        stores.map { SharedLocation(owner: "the store \"\($0.name)\"", collection: $0.host.collection, key: nil) }
            + values.map { value in
                let location = value.host.location
                return SharedLocation(
                    owner: "the value \"\(value.name)\"",
                    collection: location.collection,
                    key: location.key
                )
            }
            + secrets.map { secret in
                let location = secret.host.location
                return SharedLocation(
                    owner: "the secret \"\(secret.name)\"",
                    collection: location.collection,
                    key: location.key
                )
            }
    }
}

extension SharingApp {
    // The types of these properties have no `Self`, so that they can be read from an app of any type.
    fileprivate var storeResources: [SharedResource<any HostedStore>] { stores.map(\.resource) }
    fileprivate var valueResources: [SharedResource<any HostedValue>] { values.map(\.resource) }
    fileprivate var secretResources: [SharedResource<any HostedSecret>] { secrets.map(\.resource) }
}

/// A store, a value or a secret under its name in URLs.
package struct SharedResource<Host: Sendable>: Sendable {
    package let name: String
    package let host: Host
}

/// The storage location of a shared resource.
package struct SharedLocation: Sendable {
    package var owner: String
    package let collection: ItemCollection
    /// The key of a value or a secret; nil if the resource has the whole collection.
    let key: String?

    /// Two resources at one location; nil if there are none.
    package static func clash(in locations: [SharedLocation]) -> (first: SharedLocation, second: SharedLocation)? {
        for (index, second) in locations.enumerated() {
            if let first = locations[..<index].first(where: { $0.isIn(second) }) { return (first, second) }
        }
        return nil
    }

    private func isIn(_ other: SharedLocation) -> Bool {
        guard collection.name == other.collection.name,
            Self.isSame(collection.storage, other.collection.storage)
        else { return false }
        return key == nil || other.key == nil || key == other.key
    }

    private static func isSame(_ one: any ItemStorage, _ other: any ItemStorage) -> Bool {
        // A storage that is a value has no identity, so its own `==` decides.
        if let one = one as? any Hashable, let other = other as? any Hashable {
            return AnyHashable(one) == AnyHashable(other)
        }
        return (one as AnyObject) === (other as AnyObject)
    }
}
