/// Receives the answer to one request, exactly once, on any thread; it must not block.
public typealias ItemStorageReply<Value> = @Sendable (Result<Value, ItemStorageError>) -> Void

/// Keeps named collections of small documents, each under a key, in the order in which their keys first came.
///
/// Everything else of the stored family is made of these two functions, see ``ItemCollection``. Every method may be called from any
/// thread and returns without waiting. Commits of one collection are made in the order in which they were asked for; a read sees every
/// commit that was answered before it was asked for. Requests before the engine is open wait for it.
/// Source: <Tests/Rows/Systems.md#e-26>.
public protocol ItemStorage: Sendable {
    /// Opens the engine, when it is not open yet; blocks. Nothing by default.
    ///
    /// Called before a thread blocks for an answer: one that waits for an engine which that thread is to open would wait for ever.
    ///
    /// - Throws: why it cannot be opened.
    func open() throws(ItemStorageError)

    /// Reads a whole collection; an empty one when nothing was ever written there.
    ///
    /// A document whose bytes are damaged is not among the items but named, and hides no other.
    func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>)

    /// Makes changes in their order, all or none; durable when it is answered, as far as the engine promises that.
    ///
    /// A key that is there keeps its place and its time of creation, one that was removed and comes again is new and stands last, in
    /// one commit too. Removing what is not there changes nothing.
    func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>)
}

extension ItemStorage {
    /// Nothing is to be opened.
    public func open() throws(ItemStorageError) {}
}

/// One change of a collection.
public enum ItemChange: Hashable, Sendable {
    /// Stores a document, in place of the one before.
    case put(key: String, document: [UInt8])
    /// Lets go of a document.
    case remove(key: String)
    /// Lets go of all documents, also those that are damaged or that nobody has loaded.
    case removeAll
}

/// What a collection holds.
public struct StoredCollection: Hashable, Sendable {
    /// In the order in which their keys first came.
    public var items: [StoredItem]
    /// What cannot be read: it stays where it is until its key is written or removed.
    public var damaged: [DamagedItem]

    /// A collection of these documents.
    public init(items: [StoredItem] = [], damaged: [DamagedItem] = []) {
        self.items = items
        self.damaged = damaged
    }
}

extension StoredCollection {
    /// Whether something lies under a key, damaged or not.
    package func hasKey(_ key: String) -> Bool {
        let key = ItemKey(key)
        return items.contains { ItemKey($0.key) == key } || damaged.contains { $0.key.map(ItemKey.init) == key }
    }
}

/// One document of a collection.
public struct StoredItem: Hashable, Sendable {
    /// Any text.
    public let key: String
    /// Its bytes.
    public let document: [UInt8]
    /// When the key came, in milliseconds since 1970-01-01T00:00:00Z.
    public let created: Int64
    /// When the document was written last, in milliseconds since 1970-01-01T00:00:00Z.
    public let updated: Int64

    /// A document with its times.
    public init(key: String, document: [UInt8], created: Int64, updated: Int64) {
        self.key = key
        self.document = document
        self.created = created
        self.updated = updated
    }
}

/// A document that an engine cannot read.
public struct DamagedItem: Hashable, Sendable {
    /// Its key; nil when that is damaged too.
    public let key: String?
    /// What is wrong and where, for an operator.
    public let detail: String

    /// Names a document that cannot be read.
    public init(key: String?, detail: String) {
        self.key = key
        self.detail = detail
    }
}
