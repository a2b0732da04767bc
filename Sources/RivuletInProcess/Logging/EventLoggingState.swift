/// The newest events, for a field of the transient half.
public struct EventLoggingState: Equatable, Sendable {
    /// The entries, oldest first.
    public var events: [EventEntry]

    /// Starts with these entries.
    public init(events: [EventEntry] = []) {
        self.events = events
    }
}
