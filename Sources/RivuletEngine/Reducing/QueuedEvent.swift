import RivuletBase

/// An event with the moment at which it was queued.
///
/// Source: <Tests/Rows/Systems.md#d-06>.
public struct QueuedEvent: Sendable {
    /// The event as dispatched.
    public let event: any AppEvent
    /// An instant, because few events are asked for their uptime in nanoseconds.
    private let queued: ContinuousClock.Instant

    /// When it was queued, in nanoseconds of the system's uptime.
    public var timestamp: UInt64 { UptimeClock.nanoseconds(at: queued) }

    /// Queues an event now.
    public init(event: any AppEvent) {
        self.event = event
        queued = .now
    }

    /// Queues an event at a given uptime in nanoseconds, at most `Int64.max`.
    public init(event: any AppEvent, timestamp: UInt64) {
        self.event = event
        queued = UptimeClock.instant(nanoseconds: timestamp)
    }
}

extension QueuedEvent {
    /// The timestamp, under its name in later versions of WAVE.
    public var enqueuedAt: UInt64 { timestamp }
}

/// A queued event, under its name in later versions of WAVE.
public typealias EnqueuedEvent = QueuedEvent

/// The clock that event timestamps are taken from.
enum UptimeClock {
    private static let start = ContinuousClock().systemEpoch

    /// The instant so many nanoseconds after the system started.
    static func instant(nanoseconds: UInt64) -> ContinuousClock.Instant {
        start.advanced(by: .nanoseconds(Int64(clamping: nanoseconds)))
    }

    /// Nanoseconds since the system started, sleep included; never goes back.
    static func nanoseconds(at instant: ContinuousClock.Instant) -> UInt64 {
        start.duration(to: instant).nanoseconds
    }
}
