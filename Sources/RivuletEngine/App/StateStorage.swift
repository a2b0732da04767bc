/// Keeps the stored halves of states, each as one JSON document under a key.
///
/// A manager has at most one call for its key under way. Two managers with one key overwrite each other's documents.
public protocol StateStorage: Sendable {
    /// Reads the document under a key; nil when there never was one.
    ///
    /// - Throws: whatever keeps it from knowing, never in place of "there is none".
    func load(_ key: String) async throws -> [UInt8]?

    /// Writes the document under a key, in place of the one before; it is durable when this returns.
    ///
    /// - Throws: whatever keeps it from being durable; then the document of before or this one is there, whole.
    func save(_ document: [UInt8], under key: String) async throws
}
