import OrderedCollections
package import RivuletBase
import Synchronization

/// The items of a store, and its damaged documents.
///
/// A copy costs O(1), and an edit O(log n), also while copies are kept.
package struct StoreContents<Item: StorableItem>: Sendable {
    /// An item with the number of bytes of its key and document.
    struct Entry: Sendable {
        var item: Item
        var size: Int
    }

    /// The items, in the order in which their keys were first stored.
    private var entries = KeyedTree<ByteText, Entry>()
    /// The items as an array, which the first read makes.
    private var listing = StoreListing<Item>()
    /// The number of bytes of all keys and documents.
    private(set) var bytes = 0
    /// The documents that cannot be read.
    package var damaged: [DamagedItem] = []

    init() {}

    /// Creates the contents from items in order, in O(n).
    ///
    /// Of several items under one key the last one is used, at the position of the first.
    init(_ items: some Sequence<(key: ByteText, entry: Entry)>) {
        var keys: OrderedSet<ByteText> = []
        var values: ContiguousArray<Entry> = []
        for (key, entry) in items {
            let (isNew, index) = keys.append(key)
            if isNew { values.append(entry) } else { values[index] = entry }
        }
        bytes = values.reduce(0) { $0 + $1.size }
        entries = KeyedTree(keys: keys, values: values)
    }

    /// The items as an array.
    ///
    /// The first read of a version makes the array in O(n), and each later read copies nothing.
    package var list: [Item] {
        listing.items { entries.map(\.value.item) }
    }

    /// All items as one update.
    func update(version: UInt64) -> StoreUpdate<Item> {
        StoreUpdate(version: version, event: StoreEvent(operation: .loaded, items: list), byteCount: bytes)
    }

    /// Returns at most `limit` items from a position on; the position is at most the count.
    package func items(from position: Int, limit: Int) -> [Item] {
        entries.suffix(from: position).prefix(limit).map(\.value.item)
    }

    /// The keys of the documents that cannot be read.
    package var damagedKeys: Set<ByteText> { Set(damaged.lazy.compactMap { $0.key.map(ByteText.init) }) }

    /// The number of items.
    package var count: Int { entries.count }

    /// The item of an identifier.
    package subscript(id: String) -> Item? { self[ByteText(id)] }

    /// The item of a key.
    subscript(key: ByteText) -> Item? { entries[key]?.item }

    /// Returns the position of an identifier's item, from 0.
    package func position(of id: String) -> Int? { entries.position(of: ByteText(id)) }

    /// Returns the number of bytes of an item's key and document; nil if there is no such item.
    func size(of key: ByteText) -> Int? { entries[key]?.size }

    /// Replaces the item with this key, or appends the item; `size` is the number of bytes of its key and document.
    ///
    /// - Returns: True if an item was replaced.
    @discardableResult
    mutating func put(_ item: Item, under key: ByteText, size: Int) -> Bool {
        forgetList()
        bytes += size
        guard let position = entries.position(of: key) else {
            entries.append(Entry(item: item, size: size), under: key)
            return false
        }
        bytes -= entries.update(at: position) { entry in
            defer { entry = Entry(item: item, size: size) }
            return entry.size
        }
        return true
    }

    /// Removes the items with these keys; keys without an item are ignored.
    ///
    /// - Returns: The number of removed items.
    @discardableResult
    mutating func remove(_ keys: [ByteText]) -> Int {
        let count = entries.count
        for key in keys {
            guard let position = entries.position(of: key) else { continue }
            bytes -= entries.remove(at: position).value.size
        }
        if entries.count < count { forgetList() }
        forgetDamage(of: keys)
        return count - entries.count
    }

    /// True if the array of all items was read, and will be freed by the next change.
    var hasList: Bool { listing.isMade }

    private mutating func forgetList() {
        // Copies of this version may read the old array later.
        if isKnownUniquelyReferenced(&listing) { listing.forget() } else { listing = StoreListing() }
    }

    /// Forgets the damaged documents under these keys, which have been written or removed.
    mutating func forgetDamage(of keys: some Sequence<ByteText>) {
        guard !damaged.isEmpty else { return }
        let keys = Set(keys)
        damaged.removeAll { damage in damage.key.map { keys.contains(ByteText($0)) } ?? false }
    }
}

/// The items of one version of a store as an array, which the first read makes.
private final class StoreListing<Item: StorableItem>: Sendable {
    private let made = Mutex<[Item]?>(nil)

    func items(_ make: () -> [Item]) -> [Item] {
        made.withLock { made in
            let items = made ?? make()
            made = items
            return items
        }
    }

    var isMade: Bool { made.withLock { $0 != nil } }

    func forget() { made.withLock { $0 = nil } }
}
