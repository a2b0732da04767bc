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
