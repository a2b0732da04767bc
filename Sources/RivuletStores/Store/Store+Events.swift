import Synchronization

extension Store {
    /// A new stream with the latest event, then every later event; the stream keeps the store alive.
    ///
    /// The first event is `initialized` only if the store has not loaded. A reader that falls behind more than the
    /// limits allow (``StoreLimits/subscriberEventsMax``) gets one `loaded` event with all items in place of the
    /// missed events.
    /// Source: <Tests/Rows/Systems.md#e-10>, E-11.
    public var events: AsyncStream<StoreEvent<Item>> {
        let subscription = subscribe()
        return AsyncStream {
            await subscription.next()?.event
        } onCancel: {
            subscription.cancel()
        }
    }

    /// The number of events, without `initialized` and the first `loaded`, since the store was created.
    package var version: UInt64 { machine.withLock { $0.version } }

    /// The number of requested operations that are not made yet.
    package var requestCount: Int { machine.withLock { $0.requestCount } }

    /// The number of subscribers of the store.
    package var subscriberCount: Int { machine.withLock { $0.subscriberCount } }

    /// Subscribes to the store: first the latest event, then every later one.
    package func subscribe() -> StoreSubscription<Item> {
        StoreSubscription(of: self, id: machine.withLock { $0.subscribe() })
    }
}

/// A subscriber of a store, until it is cancelled or released.
package final class StoreSubscription<Item: StorableItem>: Sendable {
    private let store: Store<Item>
    private let id: UInt64

    fileprivate init(of store: Store<Item>, id: UInt64) {
        self.store = store
        self.id = id
    }

    deinit { cancel() }

    /// Waits for the next update; nil if the subscription is cancelled.
    package func next() async -> StoreUpdate<Item>? {
        await withCheckedContinuation { continuation in
            next { continuation.resume(returning: $0) }
        }
    }

    /// Requests the next update; nil if the subscription is cancelled.
    package func next(_ reply: @escaping StoreUpdateReply<Item>) {
        let delivery = store.machine.withLock { $0.nextUpdate(of: id, reply: reply) }
        delivery?.make()
    }

    /// Ends the subscription.
    ///
    /// It may be called again.
    package func cancel() {
        let deliveries = store.machine.withLock { $0.unsubscribe(id) }
        for delivery in deliveries { delivery.make() }
    }
}
