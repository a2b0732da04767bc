import Synchronization

/// The events that descend from one event by `.dispatch` effects alone.
///
/// An effect that always dispatches again would keep its session busy for ever; the count ends it.
package final class EffectChain: Sendable {
    private let count = Atomic<Int>(0)

    package init() {}

    package enum Admission: Sendable, Equatable {
        case admitted
        /// It is one too many; only the first is worth a line in the log.
        case refused(isFirst: Bool)
    }

    /// Counts one more event.
    package func admit(max: Int) -> Admission {
        let place = count.add(1, ordering: .relaxed).newValue
        return place <= max ? .admitted : .refused(isFirst: place == max + 1)
    }
}
