public import RivuletEngine

/// Keeps the newest events in an ``EventLoggingState``.
///
/// `AnyReducer(EventLoggingAppReducer(keyPath: \AppState.t.log))` puts it beside an app's reducers.
/// Source: <Tests/Rows/Systems.md#d-31>.
public struct EventLoggingReducer: EventReducer {
    private let maxEntries: Int

    /// Keeps so many entries; the oldest goes when there would be one more.
    public init(maxEntries: Int = 200) {
        self.maxEntries = max(0, maxEntries)
    }

    /// Adds the event; the log's own are left out, and ``EventLoggingEvent/clear`` empties it.
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

    /// Starts with these entries.
    public init(events: [EventEntry] = []) {
        self.events = events
    }
}

/// Asks something of the event log; no such event is in the log.
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

    /// Logs into this field.
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
