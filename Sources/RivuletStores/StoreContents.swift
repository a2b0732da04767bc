// Part of Rivulet. See README.md for the architecture.
// Owns what a store holds.

import OrderedCollections

/// The items of a store, and what lies beside them.
struct StoreContents<Item: StorableItem>: Sendable {
    /// In the order in which their keys first came.
    var items: OrderedDictionary<ItemKey, Item> = [:]
    /// What cannot be read.
    var damaged: [DamagedItem] = []

    /// The items as an array, which is not a copy.
    var list: [Item] { items.values.elements }

    /// The keys under which something lies that cannot be read.
    var damagedKeys: Set<ItemKey> { Set(damaged.lazy.compactMap { $0.key.map(ItemKey.init) }) }

    mutating func insert(_ insertion: OrderedDictionary<ItemKey, Item>) {
        for (key, item) in insertion { items[key] = item }
        forgetDamage(of: insertion.keys)
    }

    mutating func remove(_ keys: [ItemKey]) {
        items.remove(keys)
        forgetDamage(of: keys)
    }

    private mutating func forgetDamage(of keys: some Sequence<ItemKey>) {
        guard !damaged.isEmpty else { return }
        let keys = Set(keys)
        damaged.removeAll { damage in damage.key.map { keys.contains(ItemKey($0)) } ?? false }
    }
}
