package import RivuletAccess
package import RivuletJSON
package import RivuletStores

/// A page of a store's items.
package struct StorePage: Sendable {
    /// The version of the store.
    package let version: UInt64
    /// The page as `{"version":v,"items":[…],"next":…,"damaged":n}`; `next` and `damaged` may be missing.
    package let json: [UInt8]
}

/// The result of a request that changes a store.
package struct StoreAnswer: Sendable {
    /// The changes that the request made.
    package let outcome: StoreOutcome
    /// The item, if the request had a single one.
    package var item: ItemAnswer?
}

/// A store that clients read, change and follow as JSON.
///
/// Requests before the store has loaded wait for the load. `expected` has the versions that a request accepts; it is
/// nil if the request accepts any version.
package protocol HostedStore: Sendable {
    /// The shape of an item.
    var itemSchema: JSONSchema { get }
    /// The collection of the items.
    var collection: ItemCollection { get }

    /// The items of a collection that cannot be read: first the damaged items, then the items that the store cannot
    /// take.
    func faults(in contents: StoredCollection) -> [DamagedItem]

    /// Waits until the items are loaded.
    func load(_ reply: @escaping SharedReply<Void>)

    /// Returns the form of an identifier under which the store keeps its item.
    func canonical(_ id: String) -> String

    /// Reads at most `limit` of the granted items in the store's order, after the item `after`, or from the first item
    /// if `after` is nil.
    func read(after: String?, limit: Int, among granted: ItemMask, reply: @escaping SharedReply<StorePage>)

    /// Reads one item.
    func read(_ id: String, reply: @escaping SharedReply<ItemAnswer>)

    /// Inserts one item, or an array of items.
    func insert(_ body: [UInt8], expected: [UInt64]?, reply: @escaping SharedReply<StoreAnswer>)

    /// Inserts the item in the body, which must have the identifier `id`.
    func put(_ body: [UInt8], under id: String, if condition: ItemCondition, reply: @escaping SharedReply<StoreAnswer>)

    /// Removes the item with the identifier `id`.
    func remove(_ id: String, if condition: ItemCondition, reply: @escaping SharedReply<StoreAnswer>)

    /// Removes all items.
    func removeAll(expected: [UInt64]?, reply: @escaping SharedReply<StoreAnswer>)

    /// Carries out several operations in one commit.
    func perform(_ body: [UInt8], expected: [UInt64]?, reply: @escaping SharedReply<StoreAnswer>)

    /// Begins to feed streams; `wake` is called, on any thread, when there are events to take.
    func makeFeed(wake: @escaping @Sendable () -> Void) -> any SharedFeed
}
