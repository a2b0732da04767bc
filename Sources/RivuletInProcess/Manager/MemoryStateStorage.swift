public import RivuletEngine
import Synchronization

/// Keeps documents for as long as it lives.
public final class MemoryStateStorage: StateStorage {
    private let stored: Mutex<[String: [UInt8]]>

    /// Starts with these documents.
    public init(_ documents: [String: [UInt8]] = [:]) {
        stored = Mutex(documents)
    }

    /// All documents by their keys.
    public var documents: [String: [UInt8]] { stored.withLock { $0 } }

    /// The document under a key.
    public func load(_ key: String) async -> [UInt8]? { documents[key] }

    /// Takes a document.
    public func save(_ document: [UInt8], under key: String) async {
        stored.withLock { $0[key] = document }
    }
}
