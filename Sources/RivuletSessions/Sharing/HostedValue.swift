package import RivuletJSON
package import RivuletStores

/// A value in the form that clients get.
package struct ValueAnswer: Sendable {
    /// The number of times that the value was set since the server started.
    package let version: UInt64
    /// JSON.
    package let json: [UInt8]
}

/// A stored value that clients read, change and follow as JSON.
///
/// `expected` has the versions that a request accepts; it is nil if the request accepts any version.
package protocol HostedValue: Sendable {
    /// The shape of the value.
    var schema: JSONSchema { get }
    /// The default as JSON, which is the value while nothing is stored.
    var defaultValue: [UInt8] { get }
    /// True if the value is a Boolean.
    var isBool: Bool { get }
    /// The collection of the value, and the value's key in that collection.
    var location: (collection: ItemCollection, key: String) { get }

    /// The reason why the value in a collection cannot be read; nil if it can be read, or if none is stored.
    func fault(in contents: StoredCollection) -> String?

    /// Reads the value.
    func read(_ reply: @escaping SharedReply<ValueAnswer>)

    /// Sets the value.
    func set(_ body: [UInt8], expected: [UInt64]?, reply: @escaping SharedReply<ValueAnswer>)

    /// Sets the value to its default.
    func reset(expected: [UInt64]?, reply: @escaping SharedReply<ValueAnswer>)

    /// Sets a Boolean value to its opposite.
    func toggle(expected: [UInt64]?, reply: @escaping SharedReply<ValueAnswer>)

    /// Begins to feed streams after the value has been read; `wake` is called, on any thread, when there are events to
    /// take.
    func makeFeed(wake: @escaping @Sendable () -> Void) -> any SharedFeed
}
