import Synchronization

/// What follows one event.
package struct EventEffect<Event: AppEvent>: Sendable {
    /// The event's name, for the log.
    package let eventName: String
    package let effect: Effect<Event>

    package init(eventName: String, effect: Effect<Event>) {
        self.eventName = eventName
        self.effect = effect
    }
}

/// Where an event that an effect dispatched comes from.
package struct EffectSource: Sendable {
    /// The name of the event whose effect it was.
    package let eventName: String
    /// The count that it belongs to when it was dispatched at once; nil when time or work lay between.
    package var chain: EffectChain?
    /// The repeating timer whose tick it is: it sends no other before this one has had its turn.
    package var tick: EffectTaskID?
}

/// The name of a work or a timer within its session's effects, never used again.
package struct EffectTaskID: Hashable, Sendable, Comparable {
    let rawValue: UInt64

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

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
