import DequeModule
public import RivuletEngine
import Synchronization

/// Records events as a dispatch filter does, and replays them with the time that was between them.
///
/// While it replays it refuses events, so the replay itself has to go past it:
/// `await recorder.replay { event, _ in await manager.dispatch(event, withoutFilter: true) }`.
/// Source: <Tests/Rows/Systems.md#d-32>.
public final class EventRecorder: Sendable {
    private struct State {
        var events: Deque<(event: any AppEvent, time: Duration)> = []
        var isReplaying = false
    }

    private let state = Mutex(State())
    private let eventsMax: Int
    private let clock: any Clock<Duration>
    private let elapsed: @Sendable () -> Duration

    /// Keeps the newest events, at most so many, and takes their times from the clock.
    public init(eventsMax: Int = 10_000, clock: any Clock<Duration> = ContinuousClock()) {
        self.eventsMax = max(0, eventsMax)
        self.clock = clock
        elapsed = Self.stopwatch(clock)
    }

    private static func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// Whether a replay is going on.
    public var isReplaying: Bool { state.withLock { $0.isReplaying } }

    /// Records an event.
    public func record(_ event: any AppEvent) {
        let time = elapsed()
        state.withLock { add(event, time, to: &$0) }
    }

    /// Records an event and lets it pass; refuses it, without recording it, while a replay is going on.
    ///
    /// A manager takes it as its filter: `dispatchFilter: recorder.dispatchFilter`.
    public func dispatchFilter(event: any AppEvent) -> Bool {
        let time = elapsed()
        return state.withLock { state in
            guard !state.isReplaying else { return false }
            add(event, time, to: &state)
            return true
        }
    }

    private func add(_ event: any AppEvent, _ time: Duration, to state: inout State) {
        state.events.append((event, time))
        if state.events.count > eventsMax { state.events.removeFirst() }
    }

    /// What was recorded, oldest first, each with its time since the recorder was made; the record is empty then.
    public func getAndClear() -> [(event: any AppEvent, time: Duration)] {
        state.withLock { state in
            defer { state.events = [] }
            return Array(state.events)
        }
    }

    /// Empties the record.
    public func clear() {
        state.withLock { $0.events = [] }
    }

    /// Empties the record and hands its events over one by one, with the time between them that was between them; waits for the last.
    ///
    /// Ends early when its task is cancelled. A replay while another one is going on does nothing.
    /// - Parameter dispatch: Takes an event, and whether it is the last one.
    public func replay(_ dispatch: @Sendable (_ event: any AppEvent, _ isLast: Bool) async -> Void) async {
        let events = state.withLock { state -> Deque<(event: any AppEvent, time: Duration)> in
            guard !state.isReplaying else { return [] }
            defer { state.events = [] }
            state.isReplaying = true
            return state.events
        }
        guard let first = events.first else { return }
        defer { state.withLock { $0.isReplaying = false } }
        var time = first.time
        for (index, recorded) in events.enumerated() {
            if recorded.time > time {
                do {
                    try await clock.sleep(for: recorded.time - time)
                } catch {
                    return
                }
            }
            time = recorded.time
            await dispatch(recorded.event, index == events.count - 1)
        }
    }
}
