import DequeModule
import RivuletEngine
import Synchronization

/// A bounded queue that any thread may add to, with a flag that says if a task is working on it.
final class EventInbox: Sendable {
    /// An item that waits for its turn.
    enum Item: Sendable {
        /// An event; the source is the reducer's effect that dispatched it, and nil for other events.
        case event(QueuedEvent, EffectSource? = nil)
        case listener(any StateListener)
    }

    /// The result of adding an item.
    enum Admission {
        /// The item waits, and a task is at work.
        case waits
        /// The item waits, and the caller must start a task to work on it.
        case starts
        /// The queue is full; `isFirst` is true if the previous event was accepted.
        case refused(isFirst: Bool)
    }

    private struct State {
        var items: Deque<Item> = []
        var events = 0
        var isWorking = false
        var isRefusing = false
        var dispatched = 0
        var processed = 0
        var idleWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let eventsMax: Int

    init(eventsMax: Int) {
        self.eventsMax = eventsMax
    }

    /// The number of accepted events.
    var dispatched: Int { state.withLock { $0.dispatched } }

    /// The number of processed events.
    var processed: Int { state.withLock { $0.processed } }

    /// Adds an item to the end of the queue.
    func add(_ item: Item) -> Admission {
        state.withLock { state in
            if case .event = item {
                guard state.events < eventsMax else {
                    defer { state.isRefusing = true }
                    return .refused(isFirst: !state.isRefusing)
                }
                state.isRefusing = false
                state.events += 1
                state.dispatched += 1
            }
            state.items.append(item)
            defer { state.isWorking = true }
            return state.isWorking ? .waits : .starts
        }
    }

    /// Returns the next item; nil if the queue is empty, and the task then ends.
    func next() -> Item? {
        let (item, waiters) = state.withLock { state -> (Item?, [CheckedContinuation<Void, Never>]) in
            guard let item = state.items.popFirst() else {
                defer { state.idleWaiters = [] }
                state.isWorking = false
                return (nil, state.idleWaiters)
            }
            if case .event = item { state.events -= 1 }
            return (item, [])
        }
        for waiter in waiters { waiter.resume() }
        return item
    }

    /// Counts a processed event.
    func finishEvent() {
        state.withLock { $0.processed += 1 }
    }

    /// Returns when the queue is empty and no task works on it.
    func waitUntilIdle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.isWorking { state.idleWaiters.append(continuation) }
                return !state.isWorking
            }
            if isIdle { continuation.resume() }
        }
    }
}
