public import RivuletEngine

/// Records the newest events in an ``EventLoggingState``.
///
/// `AnyReducer(EventLoggingAppReducer(keyPath: \AppState.t.log))` adds it to an app's reducers.
/// Source: <Tests/Rows/Systems.md#d-31>.
public struct EventLoggingReducer: EventReducer {
    private let maxEntries: Int

    /// Keeps at most this number of entries; a further entry removes the oldest one.
    public init(maxEntries: Int = 200) {
        self.maxEntries = max(0, maxEntries)
    }

    /// Adds the event to the log.
    ///
    /// The log's own events are not added, and ``EventLoggingEvent/clear`` empties the log.
    public func reduce(into state: inout EventLoggingState, queuedEvent: QueuedEvent) {
        if let event = queuedEvent.event as? EventLoggingEvent {
            if event == .clear { state.events = [] }
            return
        }
        state.events.append(EventEntry(queuedEvent: queuedEvent))
        state.events.removeFirst(max(0, state.events.count - maxEntries))
    }

    /// Returns the log with the event.
    public func reduce(state: EventLoggingState, queuedEvent: QueuedEvent) -> EventLoggingState {
        var state = state
        reduce(into: &state, queuedEvent: queuedEvent)
        return state
    }
}

/// The newest events, for a field of the transient half.
public struct EventLoggingState: Equatable, Sendable {
    /// The entries, oldest first.
    public var events: [EventEntry]

    /// Creates a log with these entries.
    public init(events: [EventEntry] = []) {
        self.events = events
    }
}

/// A command for the event log.
///
/// These events are not in the log.
public enum EventLoggingEvent: AppEvent, Equatable {
    /// Dispatches the logged events again, see ``EventEffectsProcessor``.
    case replay
    /// Empties the log.
    case clear

    /// False.
    public var persist: Bool { false }
    /// False.
    public var isUIEvent: Bool { false }
}

/// Runs an ``EventLoggingReducer`` on a field of a state.
public struct EventLoggingAppReducer<State>: EventReducer {
    private let keyPath: any WritableKeyPath<State, EventLoggingState> & Sendable
    private let reducer: EventLoggingReducer

    /// Creates a reducer that logs into this field.
    public init(
        keyPath: any WritableKeyPath<State, EventLoggingState> & Sendable,
        reducer: EventLoggingReducer = EventLoggingReducer()
    ) {
        self.keyPath = keyPath
        self.reducer = reducer
    }

    /// Adds the event to the field.
    public func reduce(into state: inout State, queuedEvent: QueuedEvent) {
        reducer.reduce(into: &state[keyPath: keyPath], queuedEvent: queuedEvent)
    }
}
