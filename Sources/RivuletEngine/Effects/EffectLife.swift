import Synchronization

/// The cancellation of a work, and the number of its events that are on their way to the session.
///
/// A work that dispatches faster than the session accepts must not fill the loop's mailbox, which all other messages
/// use, too.
final class EffectLife: Sendable {
    private let eventsMax: Int
    private let eventsUnderWay = Atomic<Int>(0)
    private let hasDropped = Atomic<Bool>(false)
    private let cancelled = Atomic<Bool>(false)

    init(eventsMax: Int) {
        self.eventsMax = eventsMax
    }

    /// True if the work's events are dropped.
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Admits one more event; returns false if too many are on their way.
    func admit() -> Bool {
        guard eventsUnderWay.add(1, ordering: .relaxed).newValue > eventsMax else { return true }
        eventsUnderWay.subtract(1, ordering: .relaxed)
        hasDropped.store(true, ordering: .relaxed)
        return false
    }

    /// Records that an event has reached the session; returns true if events were dropped since the last call.
    func didArrive() -> Bool {
        eventsUnderWay.subtract(1, ordering: .relaxed)
        return hasDropped.exchange(false, ordering: .relaxed)
    }
}
