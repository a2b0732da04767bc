public import RivuletEngine
import RivuletObservation

/// What the log of events keeps of one event.
///
/// Source: <Tests/Rows/Systems.md#d-31>.
public struct EventEntry: Equatable, Sendable, Identifiable {
    /// When the event was queued, in nanoseconds of the system's uptime.
    public let timestamp: UInt64
    /// The event, to dispatch it again.
    public let event: any AppEvent
    /// The event's type with its module.
    public let typeName: String
    /// The event in words; of a case that is marked as sensitive only its name.
    public let description: String
    /// Whether a person caused it.
    public let isUIEvent: Bool
    /// Whether what it changed is stored.
    public let persist: Bool

    /// The timestamp.
    public var id: UInt64 { timestamp }

    /// Takes an event down.
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

    /// Describes an event, for tests and tools.
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

    /// Compares everything but the events, which need not be comparable: their descriptions stand for them.
    public static func == (first: Self, second: Self) -> Bool {
        first.timestamp == second.timestamp && first.typeName == second.typeName
            && first.description == second.description && first.isUIEvent == second.isUIEvent
            && first.persist == second.persist
    }
}
