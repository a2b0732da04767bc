import Synchronization

/// Whether a work was cancelled, and how many of its events are on their way into the session.
///
/// A work that dispatches faster than the session takes must not fill the loop's mailbox, through which everything else comes too.
final class EffectLife: Sendable {
    private let eventsMax: Int
    private let eventsUnderWay = Atomic<Int>(0)
    private let hasDropped = Atomic<Bool>(false)
    private let cancelled = Atomic<Bool>(false)

    init(eventsMax: Int) {
        self.eventsMax = eventsMax
    }

    /// Whether what it dispatches is dropped.
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Lets one more event set out; false when too many are under way.
    func admit() -> Bool {
        guard eventsUnderWay.add(1, ordering: .relaxed).newValue > eventsMax else { return true }
        eventsUnderWay.subtract(1, ordering: .relaxed)
        hasDropped.store(true, ordering: .relaxed)
        return false
    }

    /// Notes that an event has come to the session; true when others were dropped since the last time.
    func didArrive() -> Bool {
        eventsUnderWay.subtract(1, ordering: .relaxed)
        return hasDropped.exchange(false, ordering: .relaxed)
    }
}
