import RivuletEngine
package import RivuletStores

/// The stores, values and secrets of an app, by their names.
package struct SharedResources: Sendable {
    /// In the order of their declaration.
    package let stores: [SharedResource<any HostedStore>]
    /// In the order of their declaration.
    package let values: [SharedResource<any HostedValue>]
    /// In the order of their declaration.
    package let secrets: [SharedResource<any HostedSecret>]

    /// Takes what an app declares; an app that is no ``SharingApp`` has none.
    ///
    /// A cast, once per app: an overload would be chosen where the type is known, and generic code between, such as a test server's, would
    /// choose the one without stores.
    init(of app: some AppDefinition) {
        let app = app as? any SharingApp
        stores = app?.storeResources ?? []
        values = app?.valueResources ?? []
        secrets = app?.secretResources ?? []
    }

    /// Why they cannot be served, in words for the app's author; nil: they can.
    var fault: String? {
        Self.fault(of: stores.map(\.name), "store") ?? Self.fault(of: values.map(\.name), "value")
            ?? Self.fault(of: secrets.map(\.name), "secret")
            ?? SharedPlace.clash(in: places).map { clash in
                "\(clash.first.owner) and \(clash.second.owner) are kept in one place, the collection \"\(clash.first.collection.name)\", "
                    + "so that neither would see what the other writes; give one of them another"
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

    /// Where all of it is kept.
    package var places: [SharedPlace] {
        stores.map { SharedPlace(owner: "the store \"\($0.name)\"", collection: $0.host.collection, key: nil) }
            + values.map { value in
                let place = value.host.place
                return SharedPlace(owner: "the value \"\(value.name)\"", collection: place.collection, key: place.key)
            }
            + secrets.map { secret in
                let place = secret.host.place
                return SharedPlace(owner: "the secret \"\(secret.name)\"", collection: place.collection, key: place.key)
            }
    }
}

extension SharingApp {
    // Of types without `Self`, so that an app of any type has them.
    fileprivate var storeResources: [SharedResource<any HostedStore>] { stores.map(\.resource) }
    fileprivate var valueResources: [SharedResource<any HostedValue>] { values.map(\.resource) }
    fileprivate var secretResources: [SharedResource<any HostedSecret>] { secrets.map(\.resource) }
}

/// A store, a value or a secret under its name in URLs.
package struct SharedResource<Host: Sendable>: Sendable {
    package let name: String
    package let host: Host
}

/// Where a shared resource is kept.
package struct SharedPlace: Sendable {
    package var owner: String
    package let collection: ItemCollection
    /// The key of a value; nil: the resource has the whole collection.
    let key: String?

    /// Two that are kept in one place; nil: no two are.
    package static func clash(in places: [SharedPlace]) -> (first: SharedPlace, second: SharedPlace)? {
        for (index, second) in places.enumerated() {
            if let first = places[..<index].first(where: { $0.isIn(second) }) { return (first, second) }
        }
        return nil
    }

    private func isIn(_ other: SharedPlace) -> Bool {
        guard collection.name == other.collection.name,
            Self.isSame(collection.storage, other.collection.storage)
        else { return false }
        return key == nil || other.key == nil || key == other.key
    }

    private static func isSame(_ one: any ItemStorage, _ other: any ItemStorage) -> Bool {
        // One that is a value has no identity; what it says of itself counts.
        if let one = one as? any Hashable, let other = other as? any Hashable {
            return AnyHashable(one) == AnyHashable(other)
        }
        return (one as AnyObject) === (other as AnyObject)
    }
}
