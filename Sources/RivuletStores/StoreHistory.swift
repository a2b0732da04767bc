// Part of Rivulet. See README.md for the architecture.
// Owns a bounded queue of a store's events.

import DequeModule

/// The last events of a store, as many as its bounds allow.
struct StoreHistory<Item: StorableItem>: Sendable {
    let bounds: StoreEventBounds
    private(set) var updates: Deque<StoreUpdate<Item>> = []
    private var itemCount = 0
    private var bytes = 0

    init(_ bounds: StoreEventBounds) {
        self.bounds = bounds
    }

    /// Whether an event fits without another one having to go; one fits always when nothing else is there.
    func hasRoom(for update: StoreUpdate<Item>) -> Bool {
        updates.isEmpty
            || (updates.count < bounds.eventsMax && itemCount + update.event.items.count <= bounds.itemsMax
                && bytes + update.bytes <= bounds.bytesMax)
    }

    mutating func append(_ update: StoreUpdate<Item>) {
        updates.append(update)
        itemCount += update.event.items.count
        bytes += update.bytes
    }

    /// Lets go of the oldest events until there is room.
    mutating func appendMakingRoom(for update: StoreUpdate<Item>) {
        while !hasRoom(for: update) { removeFirst() }
        append(update)
    }

    @discardableResult
    mutating func removeFirst() -> StoreUpdate<Item>? {
        guard let update = updates.popFirst() else { return nil }
        itemCount -= update.event.items.count
        bytes -= update.bytes
        return update
    }

    mutating func removeAll() {
        updates = []
        (itemCount, bytes) = (0, 0)
    }

    /// What came after a version; nil when it does not begin there any more.
    func updates(after version: UInt64) -> Deque<StoreUpdate<Item>>.SubSequence? {
        guard let first = updates.first?.version, first <= version + 1 else { return nil }
        return updates.dropFirst(Int(version + 1 - first))
    }
}
