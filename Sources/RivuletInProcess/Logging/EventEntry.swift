public import RivuletEngine
import RivuletObservation

/// The log's record of one event.
///
/// Source: <Tests/Rows/Systems.md#d-31>.
public struct EventEntry: Equatable, Sendable, Identifiable {
    /// The time at which the event was queued, in nanoseconds of the system's uptime.
    public let timestamp: UInt64
    /// The event, for a replay.
    public let event: any AppEvent
    /// The event's type with its module.
    public let typeName: String
    /// The event as text; for a case that is marked as sensitive, only its name.
    public let description: String
    /// True if a person caused the event.
    public let isUIEvent: Bool
    /// True if the event's change is stored.
    public let persist: Bool

    /// The timestamp.
    public var id: UInt64 { timestamp }

    /// Creates the record of an event.
    public init(queuedEvent: QueuedEvent) {
        let event = queuedEvent.event
        let coded = event as? any EventCoding
        self.init(
            timestamp: queuedEvent.timestamp,
            event: event,
            typeName: String(reflecting: type(of: event)),
            description: coded.flatMap { $0.isSensitive ? $0.eventName : nil } ?? String(describing: event),
            isUIEvent: event.isUIEvent,
            persist: event.persist
        )
    }

    /// Creates a record of an event, for tests and tools.
    public init(
        timestamp: UInt64,
        event: any AppEvent,
        typeName: String,
        description: String,
        isUIEvent: Bool,
        persist: Bool
    ) {
        self.timestamp = timestamp
        self.event = event
        self.typeName = typeName
        self.description = description
        self.isUIEvent = isUIEvent
        self.persist = persist
    }

    /// Compares everything but the events, which may not be comparable; their descriptions are compared instead.
    public static func == (first: Self, second: Self) -> Bool {
        first.timestamp == second.timestamp && first.typeName == second.typeName
            && first.description == second.description && first.isUIEvent == second.isUIEvent
            && first.persist == second.persist
    }
}
