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
