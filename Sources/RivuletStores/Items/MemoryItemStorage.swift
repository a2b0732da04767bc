import OrderedCollections
import Synchronization

/// Keeps collections as long as the process lives.
public final class MemoryItemStorage: ItemStorage {
    /// The most documents that a collection holds.
    public let itemsMax: Int
    private let clock: @Sendable () -> Int64
    private let collections = Mutex<[ItemKey: OrderedDictionary<ItemKey, StoredItem>]>([:])

    /// Makes a storage without collections; `clock` gives milliseconds since 1970-01-01T00:00:00Z.
    public init(itemsMax: Int = 1_000_000, clock: @escaping @Sendable () -> Int64) {
        self.itemsMax = itemsMax
        self.clock = clock
    }

    /// Reads a whole collection.
    public func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        let items = collections.withLock { $0[ItemKey(collection)].map { Array($0.values) } ?? [] }
        reply(.success(StoredCollection(items: items)))
    }

    /// Makes changes in their order, all or none; nothing here survives the process.
    public func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        let (now, name) = (clock(), ItemKey(collection))
        let isDone = collections.withLock { collections in
            // Counted before anything is changed: a commit is made in place, so that it costs what it changes.
            guard hasRoom(for: changes, in: collections[name] ?? [:]) else { return false }
            Self.make(changes, in: &collections[name, default: [:]], at: now)
            return true
        }
        reply(isDone ? .success(()) : .failure(.tooMany(limit: itemsMax)))
    }

    private static func make(
        _ changes: [ItemChange],
        in items: inout OrderedDictionary<ItemKey, StoredItem>,
        at now: Int64
    ) {
        // Removals that follow each other are made together.
        var removed: [ItemKey] = []
        for change in changes {
            if case .remove(let key) = change {
                removed.append(ItemKey(key))
                continue
            }
            items.remove(removed)
            removed = []
            switch change {
            case .put(let key, let document):
                let created = items[ItemKey(key)]?.created ?? now
                items[ItemKey(key)] = StoredItem(key: key, document: document, created: created, updated: now)
            case .remove: break
            case .removeAll: items = [:]
            }
        }
        items.remove(removed)
    }

    private func hasRoom(
        for changes: [ItemChange],
        in items: OrderedDictionary<ItemKey, StoredItem>
    ) -> Bool {
        if items.count + changes.count <= itemsMax { return true }
        var count = items.count
        var isEmptied = false
        // What the changes so far made of a key.
        var isThere: [ItemKey: Bool] = [:]
        for change in changes {
            switch change {
            case .put(let key, _):
                let before = isThere.updateValue(true, forKey: ItemKey(key))
                if !(before ?? (!isEmptied && items.keys.contains(ItemKey(key)))) { count += 1 }
            case .remove(let key):
                let before = isThere.updateValue(false, forKey: ItemKey(key))
                if before ?? (!isEmptied && items.keys.contains(ItemKey(key))) { count -= 1 }
            case .removeAll: (count, isEmptied, isThere) = (0, true, [:])
            }
        }
        return count <= itemsMax
    }
}
