import RivuletBase
import Synchronization

/// Stores collections in memory.
public final class MemoryItemStorage: ItemStorage {
    /// The most documents of a collection.
    public let itemsMax: Int
    private let clock: @Sendable () -> Int64
    private let collections = Mutex<[ByteText: KeyedTree<ByteText, StoredItem>]>([:])

    /// Creates a storage without collections; `clock` returns milliseconds since 1970-01-01T00:00:00Z.
    public init(itemsMax: Int = 1_000_000, clock: @escaping @Sendable () -> Int64) {
        self.itemsMax = itemsMax
        self.clock = clock
    }

    /// Reads a whole collection.
    public func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        let items = collections.withLock { $0[ByteText(collection)]?.map(\.value) ?? [] }
        reply(.success(StoredCollection(items: items)))
    }

    /// Makes changes in order, all or none.
    ///
    /// The changes are lost at the end of the process.
    public func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        let (now, name) = (clock(), ByteText(collection))
        let isDone = collections.withLock { collections in
            // The limit is checked before any change. So the changes can be made in place, at a cost that depends only
            // on their number.
            guard hasRoom(for: changes, in: collections[name] ?? KeyedTree()) else { return false }
            Self.make(changes, in: &collections[name, default: KeyedTree()], at: now)
            return true
        }
        reply(isDone ? .success(()) : .failure(.tooMany(limit: itemsMax)))
    }

    private static func make(
        _ changes: [ItemChange],
        in items: inout KeyedTree<ByteText, StoredItem>,
        at now: Int64
    ) {
        for change in changes {
            switch change {
            case .put(let key, let document):
                let position = items.position(of: ByteText(key))
                let created = position.map { items.value(at: $0).created } ?? now
                let item = StoredItem(key: key, document: document, created: created, updated: now)
                guard let position else {
                    items.append(item, under: ByteText(key))
                    continue
                }
                items.update(at: position) { $0 = item }
            case .remove(let key):
                if let position = items.position(of: ByteText(key)) { items.remove(at: position) }
            case .removeAll: items = KeyedTree()
            }
        }
    }

    private func hasRoom(
        for changes: [ItemChange],
        in items: KeyedTree<ByteText, StoredItem>
    ) -> Bool {
        if items.count + changes.count <= itemsMax { return true }
        var count = items.count
        var isEmptied = false
        // The changed keys; true for a key that exists after the changes so far.
        var isThere: [ByteText: Bool] = [:]
        for change in changes {
            switch change {
            case .put(let key, _):
                let before = isThere.updateValue(true, forKey: ByteText(key))
                if !(before ?? (!isEmptied && items.position(of: ByteText(key)) != nil)) { count += 1 }
            case .remove(let key):
                let before = isThere.updateValue(false, forKey: ByteText(key))
                if before ?? (!isEmptied && items.position(of: ByteText(key)) != nil) { count -= 1 }
            case .removeAll: (count, isEmptied, isThere) = (0, true, [:])
            }
        }
        return count <= itemsMax
    }
}
