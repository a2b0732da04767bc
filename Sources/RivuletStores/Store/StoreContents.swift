import OrderedCollections

/// The items of a store, and what lies beside them.
package struct StoreContents<Item: StorableItem>: Sendable {
    /// In the order in which their keys first came.
    private(set) var items: OrderedDictionary<ItemKey, Item> = [:]
    /// The bytes of each item's key and document, in that order.
    private var sizes: [Int] = []
    /// The bytes of all keys and documents.
    private(set) var bytes = 0
    /// What cannot be read.
    package var damaged: [DamagedItem] = []

    /// The items as an array, which is not a copy.
    package var list: [Item] { items.values.elements }

    /// The keys under which something lies that cannot be read.
    package var damagedKeys: Set<ItemKey> { Set(damaged.lazy.compactMap { $0.key.map(ItemKey.init) }) }

    /// How many items there are.
    package var count: Int { items.count }

    /// The item of an identifier.
    package subscript(id: String) -> Item? { items[ItemKey(id)] }

    /// Where the item of an identifier stands, counted from 0.
    package func place(of id: String) -> Int? { items.index(forKey: ItemKey(id)) }

    /// The bytes of one item; nil when there is none.
    func size(of key: ItemKey) -> Int? { items.index(forKey: key).map { sizes[$0] } }

    mutating func reserveCapacity(_ count: Int) {
        items.reserveCapacity(count)
        sizes.reserveCapacity(count)
    }

    /// Puts an item in the place of the one with its key, or last; `size` is the bytes of its key and document.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    mutating func put(_ item: Item, under key: ItemKey, size: Int) -> Bool {
        bytes += size
        let (old, index) = items.updateValue(item, forKey: key, insertingAt: items.count)
        guard old != nil else {
            sizes.append(size)
            return false
        }
        bytes -= sizes[index]
        sizes[index] = size
        return true
    }

    /// Removes the items of keys, those that are there.
    ///
    /// - Returns: how many there were.
    @discardableResult
    mutating func remove(_ keys: [ItemKey]) -> Int {
        let count = items.count
        // Each removal moves up what stands behind it: of many keys one walk over everything costs less.
        if keys.count < 4 {
            for index in Set(keys.compactMap { items.index(forKey: $0) }).sorted(by: >) {
                items.remove(at: index)
                bytes -= sizes.remove(at: index)
            }
        } else {
            removeTogether(keys)
        }
        forgetDamage(of: keys)
        return count - items.count
    }

    private mutating func removeTogether(_ keys: [ItemKey]) {
        let gone = Set(keys.compactMap { items.index(forKey: $0) })
        if gone.isEmpty { return }
        var kept: [Int] = []
        kept.reserveCapacity(sizes.count - gone.count)
        for (index, size) in sizes.enumerated() {
            if gone.contains(index) { bytes -= size } else { kept.append(size) }
        }
        sizes = kept
        items.remove(keys)
    }

    /// Forgets what could not be read under keys that are written now.
    mutating func forgetDamage(of keys: some Sequence<ItemKey>) {
        guard !damaged.isEmpty else { return }
        let keys = Set(keys)
        damaged.removeAll { damage in damage.key.map { keys.contains(ItemKey($0)) } ?? false }
    }
}
