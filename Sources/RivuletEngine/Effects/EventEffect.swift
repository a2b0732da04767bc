import Synchronization

/// The effect of one event.
package struct EventEffect<Event: AppEvent>: Sendable {
    /// The event's name, for the log.
    package let eventName: String
    package let effect: Effect<Event>

    package init(eventName: String, effect: Effect<Event>) {
        self.eventName = eventName
        self.effect = effect
    }
}

/// The origin of an event that an effect dispatched.
package struct EffectSource: Sendable {
    /// The name of the event that had the effect.
    package let eventName: String
    /// The chain of the event; nil if the effect dispatched the event after a delay or from work.
    package var chain: EffectChain?
    /// The repeating timer that dispatched the event as a tick; nil for other events.
    ///
    /// The timer sends no further tick before this tick has been processed.
    package var tick: EffectTaskID?
}

/// The id of a work or a timer within its session's effects.
///
/// It is never used again.
package struct EffectTaskID: Hashable, Sendable, Comparable {
    let rawValue: UInt64

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The number of events that one event causes by `.dispatch` effects alone.
///
/// An effect that always dispatches again would keep its session busy for ever. The limit ends such a chain.
package final class EffectChain: Sendable {
    private let count = Atomic<Int>(0)

    package init() {}

    package enum Admission: Sendable, Equatable {
        case admitted
        /// The event exceeds the limit.
        ///
        /// Only the first such event gets a line in the log.
        case refused(isFirst: Bool)
    }

    /// Counts one more event.
    package func admit(max: Int) -> Admission {
        let number = count.add(1, ordering: .relaxed).newValue
        return number <= max ? .admitted : .refused(isFirst: number == max + 1)
    }
}
