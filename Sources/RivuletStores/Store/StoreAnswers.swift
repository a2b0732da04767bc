/// An item as clients get it.
package struct ItemAnswer: Sendable {
    /// Its identifier.
    package let id: String
    /// A name of what it is, which equal items of one identifier share, without quotes.
    package let tag: String
    /// JSON.
    package let json: [UInt8]
}

/// Some of a store's items.
package struct StorePage: Sendable {
    /// The version of the store.
    package let version: UInt64
    /// `{"version":v,"items":[…],"next":…}`.
    package let json: [UInt8]
}

/// What a request has made of a store.
package struct StoreAnswer: Sendable {
    /// What it did.
    package let outcome: StoreOutcome
    /// The item, when the request had a single one.
    package var item: ItemAnswer?
}
