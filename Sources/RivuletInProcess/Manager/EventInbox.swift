import DequeModule
import RivuletEngine
import Synchronization

/// A bounded queue that any thread may add to, and that knows whether somebody is working on it.
final class EventInbox: Sendable {
    /// What waits for its turn.
    enum Item: Sendable {
        /// An event, with the effect that dispatched it if it was one of a reducer's.
        case event(QueuedEvent, EffectSource? = nil)
        case listener(any StateListener)
    }

    /// What became of something that was to wait.
    enum Admission {
        /// It waits, and somebody is at work.
        case waits
        /// It waits, and the caller has to see that somebody starts to work.
        case starts
        /// The queue is full; `isFirst` when it was not full the time before.
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

    /// How many events were taken.
    var dispatched: Int { state.withLock { $0.dispatched } }

    /// How many events had their turn.
    var processed: Int { state.withLock { $0.processed } }

    /// Adds to the end of the line.
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

    /// The next in line; nil, and nobody works any more, when there is none.
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

    /// Counts an event whose turn is over.
    func finishEvent() {
        state.withLock { $0.processed += 1 }
    }

    /// Returns when nothing waits and nobody works.
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
