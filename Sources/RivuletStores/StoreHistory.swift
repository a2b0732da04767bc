// Part of Rivulet. See README.md for the architecture.
// Owns a bounded queue of a store's events.

import DequeModule

/// The last events of a store, as many as its bounds allow.
struct StoreHistory<Item: StorableItem>: Sendable {
    let eventsMax: Int
    let itemsMax: Int
    private(set) var updates: Deque<StoreUpdate<Item>> = []
    private var itemCount = 0

    init(eventsMax: Int, itemsMax: Int) {
        self.eventsMax = eventsMax
        self.itemsMax = itemsMax
    }

    /// Whether an event fits without another one having to go; one fits always when nothing else is there.
    func hasRoom(for update: StoreUpdate<Item>) -> Bool {
        updates.isEmpty || (updates.count < eventsMax && itemCount + update.event.items.count <= itemsMax)
    }

    mutating func append(_ update: StoreUpdate<Item>) {
        updates.append(update)
        itemCount += update.event.items.count
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
        return update
    }

    mutating func removeAll() {
        updates = []
        itemCount = 0
    }

    /// What came after a version; nil when it does not begin there any more.
    func updates(after version: UInt64) -> Deque<StoreUpdate<Item>>.SubSequence? {
        guard let first = updates.first?.version, first <= version + 1 else { return nil }
        return updates.dropFirst(Int(version + 1 - first))
    }
}
