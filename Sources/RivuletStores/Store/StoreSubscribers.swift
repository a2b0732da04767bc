import DequeModule

/// Receives the next update of a subscription, nil at its end; exactly once, on any thread.
package typealias StoreUpdateReply<Item: StorableItem> = @Sendable (StoreUpdate<Item>?) -> Void

/// The subscribers of a store.
package struct StoreSubscribers<Item: StorableItem>: Sendable {
    private enum Pending {
        /// The updates that wait for the subscriber.
        case updates(StoreHistory<Item>)
        /// The subscriber is too slow: at its next request it gets all items as they are then.
        case everything

        /// True if an update waits.
        var isThere: Bool {
            switch self {
            case .updates(let updates): !updates.updates.isEmpty
            case .everything: true
            }
        }
    }

    private struct Subscriber {
        var pending: Pending
        var asking: Deque<StoreUpdateReply<Item>> = []
        /// Called when an update arrives and none waited before.
        var wake: (@Sendable () -> Void)?
    }

    /// A notification that is prepared while the store is locked, and made after the store is unlocked.
    package enum Delivery: Sendable {
        case update(StoreUpdate<Item>?, StoreUpdateReply<Item>)
        case wake(@Sendable () -> Void)

        package func make() {
            switch self {
            case .update(let update, let reply): reply(update)
            case .wake(let wake): wake()
            }
        }
    }

    private let eventsMax: Int
    private let itemsMax: Int
    private let bytesMax: Int
    private var subscribers: [UInt64: Subscriber] = [:]
    private var lastID: UInt64 = 0

    init(eventsMax: Int, itemsMax: Int, bytesMax: Int) {
        self.eventsMax = eventsMax
        self.itemsMax = itemsMax
        self.bytesMax = bytesMax
    }

    private var emptyQueue: Pending {
        .updates(StoreHistory(eventsMax: eventsMax, itemsMax: itemsMax, bytesMax: bytesMax))
    }

    /// The number of subscribers.
    var count: Int { subscribers.count }

    /// Adds a subscriber that gets this update first.
    mutating func add(_ first: StoreUpdate<Item>) -> UInt64 {
        var subscriber = Subscriber(pending: emptyQueue)
        Self.append(first, to: &subscriber.pending)
        return add(subscriber)
    }

    /// Adds a subscriber that is woken when there are updates to take.
    mutating func add(waking wake: @escaping @Sendable () -> Void) -> UInt64 {
        add(Subscriber(pending: emptyQueue, wake: wake))
    }

    private mutating func add(_ subscriber: Subscriber) -> UInt64 {
        lastID += 1
        subscribers[lastID] = subscriber
        return lastID
    }

    private static func append(_ update: StoreUpdate<Item>, to pending: inout Pending) {
        guard case .updates(var updates) = pending else { return }
        // Cleared before the change, so that the queue is not copied.
        pending = .everything
        guard updates.hasRoom(for: update) else { return }
        updates.append(update)
        pending = .updates(updates)
    }

    /// Removes a subscriber; its requests for an update get nil.
    mutating func remove(_ id: UInt64) -> [Delivery] {
        guard let subscriber = subscribers.removeValue(forKey: id) else { return [] }
        return subscriber.asking.map { .update(nil, $0) }
    }

    /// Adds an update for every subscriber.
    mutating func publish(_ update: StoreUpdate<Item>, into deliveries: inout [Delivery]) {
        // The loop uses indices, because a view of the keys would cause a copy of every queue.
        var index = subscribers.startIndex
        while index < subscribers.endIndex {
            if let reply = subscribers.values[index].asking.popFirst() {
                deliveries.append(.update(update, reply))
            } else {
                if let wake = subscribers.values[index].wake, !subscribers.values[index].pending.isThere {
                    deliveries.append(.wake(wake))
                }
                Self.append(update, to: &subscribers.values[index].pending)
            }
            subscribers.formIndex(after: &index)
        }
    }

    /// Requests a subscriber's next update; `everything` is the update for a subscriber that fell behind.
    mutating func next(
        of id: UInt64,
        everything: @autoclosure () -> StoreUpdate<Item>,
        reply: @escaping StoreUpdateReply<Item>
    ) -> Delivery? {
        guard var subscriber = subscribers[id] else { return .update(nil, reply) }
        subscribers[id] = nil
        defer { subscribers[id] = subscriber }
        switch subscriber.pending {
        case .everything:
            subscriber.pending = emptyQueue
            return .update(everything(), reply)
        case .updates(var updates):
            subscriber.pending = .everything
            defer { subscriber.pending = .updates(updates) }
            if let update = updates.removeFirst() { return .update(update, reply) }
            subscriber.asking.append(reply)
            return nil
        }
    }

    /// Takes all waiting updates of a subscriber; nil if it was too slow, so that it must get all items instead.
    mutating func take(of id: UInt64) -> [StoreUpdate<Item>]? {
        guard let pending = subscribers[id]?.pending else { return [] }
        let nothing = emptyQueue
        subscribers[id]?.pending = nothing
        switch pending {
        case .updates(let updates): return Array(updates.updates)
        case .everything: return nil
        }
    }
}
