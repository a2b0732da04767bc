import RivuletBase

/// An event with the moment at which it was queued.
///
/// Source: <Tests/Rows/Systems.md#d-06>.
public struct QueuedEvent: Sendable {
    /// The event as dispatched.
    public let event: any AppEvent
    /// When it was queued, in nanoseconds of the system's uptime.
    public let timestamp: UInt64

    /// Queues an event now.
    public init(event: any AppEvent) {
        self.init(event: event, timestamp: UptimeClock.nanoseconds())
    }

    /// Queues an event at a given uptime in nanoseconds.
    public init(event: any AppEvent, timestamp: UInt64) {
        self.event = event
        self.timestamp = timestamp
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

    /// Nanoseconds since the system started, sleep included; never goes back.
    static func nanoseconds() -> UInt64 {
        start.duration(to: .now).nanoseconds
    }
}
