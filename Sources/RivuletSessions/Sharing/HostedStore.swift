package import RivuletJSON
package import RivuletStores

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

/// A store that clients read, change and follow by JSON.
///
/// Requests before the store has loaded wait for it. `expected` are the versions of which the store has to have one; nil: it may have any.
package protocol HostedStore: Sendable {
    /// The shape of an item.
    var itemSchema: JSONSchema { get }
    /// Where the items are kept.
    var collection: ItemCollection { get }

    /// What of a collection could not be read, in the order in which keys came.
    func faults(in contents: StoredCollection) -> [DamagedItem]

    /// Waits until the items are there.
    func load(_ reply: @escaping SharedReply<Void>)

    /// Reads items in the store's order: at most so many, which stand behind the one with the identifier `after`, or first.
    func read(after: String?, limit: Int, reply: @escaping SharedReply<StorePage>)

    /// Reads one item.
    func read(_ id: String, reply: @escaping SharedReply<ItemAnswer>)

    /// Inserts one item, or an array of them.
    func insert(_ body: [UInt8], expected: [UInt64]?, reply: @escaping SharedReply<StoreAnswer>)

    /// Inserts the item with that identifier.
    func put(_ body: [UInt8], under id: String, if condition: ItemCondition, reply: @escaping SharedReply<StoreAnswer>)

    /// Removes the item with that identifier.
    func remove(_ id: String, if condition: ItemCondition, reply: @escaping SharedReply<StoreAnswer>)

    /// Removes all items.
    func removeAll(expected: [UInt64]?, reply: @escaping SharedReply<StoreAnswer>)

    /// Makes a chain of operations in one commit.
    func perform(_ body: [UInt8], expected: [UInt64]?, reply: @escaping SharedReply<StoreAnswer>)

    /// Begins to feed streams; `wake` is called, on any thread, when there is something to take.
    func makeFeed(wake: @escaping @Sendable () -> Void) -> any SharedFeed
}
