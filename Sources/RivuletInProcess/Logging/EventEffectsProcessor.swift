public import RivuletEngine

/// Replays the logged events when an app's effects pass it an ``EventLoggingEvent/replay``.
///
/// Call it from the effects: `await processor.process(event: event, events: newState.t.log.events)`.
/// Source: <Tests/Rows/Systems.md#d-31>.
public final class EventEffectsProcessor<Persistent: PersistentState, Transient: Equatable & Sendable>: Sendable {
    private weak let stateManager: UIStateManager<Persistent, Transient>?
    private let replayDelay: Duration
    private let clock: any Clock<Duration>

    /// Creates a processor that replays into a manager, with this delay before each event; it does not keep the
    /// manager alive.
    public init(
        stateManager: UIStateManager<Persistent, Transient>,
        replayDelay: Duration = .milliseconds(500),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.stateManager = stateManager
        self.replayDelay = replayDelay
        self.clock = clock
    }

    /// Starts a replay if the event is a request for one: clears the log, then dispatches these events one by one.
    ///
    /// Returns at once.
    ///
    /// - Returns: The replay, which ends early if it is cancelled or the manager is gone; nil if the event is no
    ///   request for a replay.
    @discardableResult
    public func process(event: any AppEvent, events: [EventEntry]) async -> Task<Void, Never>? {
        guard event as? EventLoggingEvent == .replay, let stateManager else { return nil }
        await stateManager.dispatch(EventLoggingEvent.clear)
        return Task { [self] in
            for entry in events {
                do {
                    try await clock.sleep(for: replayDelay)
                } catch {
                    return
                }
                guard let stateManager = self.stateManager else { return }
                await stateManager.dispatch(entry.event)
            }
        }
    }
}
