/// Stores the persistent halves of states, each as one JSON document under a key.
///
/// A manager makes only one call for its key at a time. Two managers with the same key overwrite each other's
/// documents.
public protocol StateStorage: Sendable {
    /// Reads the document under a key; nil if there has never been one.
    ///
    /// - Throws: Any error that prevents the read. An unreadable document is an error and never nil.
    func load(_ key: String) async throws -> [UInt8]?

    /// Writes the document under a key and replaces the earlier document.
    ///
    /// The document is durable when this returns.
    ///
    /// - Throws: Any error that prevents durability. The storage then has the earlier document or this one, complete.
    func save(_ document: [UInt8], under key: String) async throws
}
