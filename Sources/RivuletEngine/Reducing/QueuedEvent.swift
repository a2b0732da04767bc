import RivuletBase

/// An event with the time at which it was queued.
///
/// Source: <Tests/Rows/Systems.md#d-06>.
public struct QueuedEvent: Sendable {
    /// The event as dispatched.
    public let event: any AppEvent
    /// The time as an instant; the uptime is computed only on demand, because few reducers read it.
    private let queued: ContinuousClock.Instant

    /// The time at which the event was queued, in nanoseconds of the system's uptime.
    public var timestamp: UInt64 { UptimeClock.nanoseconds(at: queued) }

    /// Creates an event that is queued now.
    public init(event: any AppEvent) {
        self.event = event
        queued = .now
    }

    /// Creates an event that was queued at a given uptime in nanoseconds, at most `Int64.max`.
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

/// The clock of event timestamps.
enum UptimeClock {
    private static let start = ContinuousClock().systemEpoch

    /// Returns the instant at this number of nanoseconds after the system started.
    static func instant(nanoseconds: UInt64) -> ContinuousClock.Instant {
        start.advanced(by: .nanoseconds(Int64(clamping: nanoseconds)))
    }

    /// Returns the nanoseconds since the system started, sleep included.
    ///
    /// The value never decreases.
    static func nanoseconds(at instant: ContinuousClock.Instant) -> UInt64 {
        start.duration(to: instant).nanoseconds
    }
}
