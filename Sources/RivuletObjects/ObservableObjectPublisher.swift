public import FoundationEssentials
import Synchronization

/// Notifies its subscribers that an object will change; a notification has neither a value nor a path.
///
/// Safe from any thread. Source: <Tests/Rows/Systems.md#c-01> to C-03.
public final class ObservableObjectPublisher: Sendable {
    private struct Subscriber {
        let id: UUID
        let callback: @Sendable () -> Void
    }

    private struct Contents {
        var subscribers: [Subscriber] = []
        var isSetUp = false
    }

    private let contents = Mutex(Contents())

    /// Makes a publisher without subscribers; a class may keep one of its own as its `objectWillChange`.
    public init() {}

    /// Calls every subscriber once, in the order of subscription, and returns after the last call.
    ///
    /// A callback may subscribe and unsubscribe; this has an effect from the next `send()` on.
    public func send() {
        for subscriber in contents.withLock({ $0.subscribers }) { subscriber.callback() }
    }

    /// Adds a callback, which runs on the thread of each change, and returns a new id for it.
    @discardableResult
    public func subscribe(_ callback: @escaping @Sendable () -> Void) -> UUID {
        let subscriber = Subscriber(id: UUID(), callback: callback)
        contents.withLock { $0.subscribers.append(subscriber) }
        return subscriber.id
    }

    /// Removes the callback with this id, if there is one.
    public func unsubscribe(_ id: UUID) {
        // The callback's contents are freed outside of the lock, because their deinitialisers may call this publisher.
        let removed: Subscriber? = contents.withLock { contents in
            guard let index = contents.subscribers.firstIndex(where: { $0.id == id }) else { return nil }
            return contents.subscribers.remove(at: index)
        }
        _ = removed
    }

    /// Removes all callbacks.
    public func removeAllSubscribers() {
        let removed = contents.withLock { contents in
            let all = contents.subscribers
            contents.subscribers = []
            return all
        }
        _ = removed
    }

    /// True if `setupPublished()` has run for the object of this publisher.
    var isSetUp: Bool {
        get { contents.withLock { $0.isSetUp } }
        set { contents.withLock { $0.isSetUp = newValue } }
    }
}
