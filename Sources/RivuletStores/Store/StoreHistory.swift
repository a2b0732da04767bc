import DequeModule

/// The last events of a store, within its limits.
struct StoreHistory<Item: StorableItem>: Sendable {
    let eventsMax: Int
    let itemsMax: Int
    let bytesMax: Int
    private(set) var updates: Deque<StoreUpdate<Item>> = []
    private var itemCount = 0
    private var byteCount = 0

    init(eventsMax: Int, itemsMax: Int, bytesMax: Int) {
        self.eventsMax = eventsMax
        self.itemsMax = itemsMax
        self.bytesMax = bytesMax
    }

    /// Returns true if an event fits without the removal of another event.
    ///
    /// An event always fits into an empty history.
    func hasRoom(for update: StoreUpdate<Item>) -> Bool {
        if updates.isEmpty { return true }
        return updates.count < eventsMax && itemCount + update.event.items.count <= itemsMax
            && byteCount + update.byteCount <= bytesMax
    }

    mutating func append(_ update: StoreUpdate<Item>) {
        updates.append(update)
        itemCount += update.event.items.count
        byteCount += update.byteCount
    }

    /// Removes the oldest events until the new event fits.
    ///
    /// An event that exceeds the limits by itself is not kept.
    mutating func appendMakingRoom(for update: StoreUpdate<Item>) {
        while !hasRoom(for: update) { removeFirst() }
        if update.event.items.count <= itemsMax, update.byteCount <= bytesMax { append(update) }
    }

    @discardableResult
    mutating func removeFirst() -> StoreUpdate<Item>? {
        guard let update = updates.popFirst() else { return nil }
        itemCount -= update.event.items.count
        byteCount -= update.byteCount
        return update
    }

    mutating func removeAll() {
        updates = []
        (itemCount, byteCount) = (0, 0)
    }

    /// Returns the events after a version; nil if some of them have been removed.
    func updates(after version: UInt64) -> Deque<StoreUpdate<Item>>.SubSequence? {
        guard let first = updates.first?.version, first <= version + 1 else { return nil }
        return updates.dropFirst(Int(version + 1 - first))
    }
}
