import RivuletStores
import Synchronization

/// The values, secrets and states for which an app gives no storage, in the data of a cluster.
struct ClusterValues: ItemStorage {
    /// The storage of this process; nil if it is not a node.
    static let ofProcess = Mutex<ClusterValues?>(nil)

    static var current: ClusterValues? { ofProcess.withLock { $0 } }

    /// The beginning of the names of collections that no app can have.
    private static let prefix = "rivulet.folder."
    private static let states = "states"

    private let items: OwnerItems

    init(_ items: OwnerItems) { self.items = items }

    func open() throws(ItemStorageError) { try items.open() }

    func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        items.items(of: Self.prefix + collection, reply: reply)
    }

    func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        items.commit(changes, to: Self.prefix + collection, reply: reply)
    }

    /// Reads the stored half of a state.
    func state(_ key: String) async throws(ItemStorageError) -> [UInt8]? {
        let stored = try await withReply { items(of: Self.states, reply: $0) }
        guard !stored.damaged.contains(where: { $0.key == key }) else {
            throw .corrupt(detail: "the stored state \"\(key)\" is damaged")
        }
        return stored.items.first { $0.key == key }?.document
    }

    func setState(_ document: [UInt8], of key: String) async throws(ItemStorageError) {
        try await withReply { commit([.put(key: key, document: document)], to: Self.states, reply: $0) }
    }

    private func withReply<Value: Sendable>(
        _ request: (@escaping ItemStorageReply<Value>) -> Void
    ) async throws(ItemStorageError) -> Value {
        let result: Result<Value, ItemStorageError> = await withCheckedContinuation { continuation in
            request { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}
