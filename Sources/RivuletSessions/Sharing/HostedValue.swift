package import RivuletJSON
package import RivuletStores

/// A value as clients get it.
package struct ValueAnswer: Sendable {
    /// How often it was set since the server has started.
    package let version: UInt64
    /// JSON.
    package let json: [UInt8]
}

/// A stored value that clients read, change and follow by JSON.
///
/// `expected` are the versions of which the value has to have one; nil: it may have any.
package protocol HostedValue: Sendable {
    /// The shape of the value.
    var schema: JSONSchema { get }
    /// What it is while nothing is stored.
    var standard: [UInt8] { get }
    /// Whether it is true or false.
    var isBool: Bool { get }
    /// Where it is kept, and under which key.
    var place: (collection: ItemCollection, key: String) { get }

    /// Why what a collection has of the value could not be read; nil: it can, or there is nothing.
    func fault(in contents: StoredCollection) -> String?

    /// Reads the value.
    func read(_ reply: @escaping SharedReply<ValueAnswer>)

    /// Sets the value.
    func set(_ body: [UInt8], expected: [UInt64]?, reply: @escaping SharedReply<ValueAnswer>)

    /// Sets the value to its default.
    func reset(expected: [UInt64]?, reply: @escaping SharedReply<ValueAnswer>)

    /// Sets a value that is true or false to the other.
    func toggle(expected: [UInt64]?, reply: @escaping SharedReply<ValueAnswer>)

    /// Begins to feed streams, when the value has been read; `wake` is called, on any thread, when there is something to take.
    func makeFeed(wake: @escaping @Sendable () -> Void) -> any SharedFeed
}
