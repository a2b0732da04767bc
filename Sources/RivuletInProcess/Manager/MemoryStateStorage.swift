public import RivuletEngine
import Synchronization

/// Stores documents in memory.
public final class MemoryStateStorage: StateStorage {
    private let stored: Mutex<[String: [UInt8]]>

    /// Creates a storage with these documents.
    public init(_ documents: [String: [UInt8]] = [:]) {
        stored = Mutex(documents)
    }

    /// All documents by their keys.
    public var documents: [String: [UInt8]] { stored.withLock { $0 } }

    /// Returns the document under a key.
    public func load(_ key: String) async -> [UInt8]? { documents[key] }

    /// Stores a document.
    public func save(_ document: [UInt8], under key: String) async {
        stored.withLock { $0[key] = document }
    }
}
