import RivuletBase

/// Receives the answer to one request, exactly once, on any thread.
///
/// It must not block.
public typealias ItemStorageReply<Value> = @Sendable (Result<Value, ItemStorageError>) -> Void

/// Stores named collections of small documents, each under a key, in the order in which the keys were first stored.
///
/// All other operations of stores and stored values use only `items` and `commit`, see ``ItemCollection``. Every
/// method may be called on any thread. Only ``open()`` waits; the other methods return at once. Commits of one
/// collection are made in the order of their requests. A read sees every commit that was answered before the read was
/// requested. A request that comes before the engine is open waits until it is open.
/// Source: <Tests/Rows/Systems.md#e-26>.
public protocol ItemStorage: Sendable {
    /// Opens the engine if it is not open yet; blocks.
    ///
    /// The default implementation does nothing.
    ///
    /// Code that blocks a thread for an answer calls this first. Otherwise the blocked thread might be the one that
    /// has to open the engine, and it would wait forever.
    ///
    /// - Throws: The reason that the engine cannot be opened.
    func open() throws(ItemStorageError)

    /// Reads a whole collection; it is empty if nothing was ever written there.
    ///
    /// A document with damaged bytes is not among the items. It is listed as damaged and does not affect the others.
    func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>)

    /// Makes changes in order, all or none.
    ///
    /// The changes are durable when the reply is called, if the engine promises durability.
    ///
    /// An existing key keeps its position and its time of creation. A key that was removed and is stored again is new
    /// and comes last, also within one commit. The removal of a missing key changes nothing.
    func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>)
}

extension ItemStorage {
    /// Does nothing, for an engine that needs no opening.
    public func open() throws(ItemStorageError) {}
}

/// One change of a collection.
public enum ItemChange: Hashable, Sendable {
    /// Stores a document, and replaces the key's earlier document.
    case put(key: String, document: [UInt8])
    /// Removes a document.
    case remove(key: String)
    /// Removes all documents, also those that are damaged or have not been loaded.
    case removeAll
}

/// The content of a collection.
public struct StoredCollection: Hashable, Sendable {
    /// The documents, in the order in which their keys were first stored.
    public var items: [StoredItem]
    /// The documents that cannot be read.
    ///
    /// Each document stays in the storage until its key is written or removed.
    public var damaged: [DamagedItem]

    /// Creates a collection of these documents.
    public init(items: [StoredItem] = [], damaged: [DamagedItem] = []) {
        self.items = items
        self.damaged = damaged
    }
}

extension StoredCollection {
    /// Returns true if there is a document under a key, damaged or not.
    package func hasKey(_ key: String) -> Bool {
        let key = ByteText(key)
        return items.contains { ByteText($0.key) == key } || damaged.contains { $0.key.map(ByteText.init) == key }
    }
}

/// One document of a collection.
public struct StoredItem: Hashable, Sendable {
    /// The key, any text.
    public let key: String
    /// The bytes of the document.
    public let document: [UInt8]
    /// The time at which the key was first stored, in milliseconds since 1970-01-01T00:00:00Z.
    public let created: Int64
    /// The time of the last write of the document, in milliseconds since 1970-01-01T00:00:00Z.
    public let updated: Int64

    /// Creates a document with its times.
    public init(key: String, document: [UInt8], created: Int64, updated: Int64) {
        self.key = key
        self.document = document
        self.created = created
        self.updated = updated
    }
}

/// A document that an engine cannot read.
public struct DamagedItem: Hashable, Sendable {
    /// The key of the document; nil if the key is damaged too.
    public let key: String?
    /// The damage and its location, for an operator.
    public let detail: String

    /// Creates the entry of a document that cannot be read.
    public init(key: String?, detail: String) {
        self.key = key
        self.detail = detail
    }
}
