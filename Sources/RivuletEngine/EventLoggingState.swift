// Part of Rivulet. See README.md for the architecture.
// Owns the event log that a state keeps of itself.

/// The newest events, for a field of the transient half.
public struct EventLoggingState: Equatable, Sendable {
    /// The entries, oldest first.
    public var events: [EventEntry]

    /// Starts with these entries.
    public init(events: [EventEntry] = []) {
        self.events = events
    }
}
