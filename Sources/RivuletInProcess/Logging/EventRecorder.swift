import DequeModule
public import RivuletEngine
import Synchronization

/// Records events as a dispatch filter, and replays them with the original intervals between them.
///
/// It refuses events during a replay, so the replay itself must bypass the filter:
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

    /// Creates a recorder that keeps at most this number of newest events, with their times on the clock.
    public init(eventsMax: Int = 10_000, clock: any Clock<Duration> = ContinuousClock()) {
        self.eventsMax = max(0, eventsMax)
        self.clock = clock
        elapsed = Self.stopwatch(clock)
    }

    private static func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// True while a replay runs.
    public var isReplaying: Bool { state.withLock { $0.isReplaying } }

    /// Records an event.
    public func record(_ event: any AppEvent) {
        let time = elapsed()
        state.withLock { add(event, time, to: &$0) }
    }

    /// Records an event and accepts it.
    ///
    /// During a replay it refuses the event and does not record it.
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

    /// Returns the recorded events, oldest first, each with its time since the recorder was made, and empties the
    /// record.
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

    /// Empties the record and passes its events on one by one, with the original intervals between them; returns
    /// after the last one.
    ///
    /// It ends early if its task is cancelled. A replay during another replay does nothing.
    /// - Parameter dispatch: Receives an event, and true if it is the last one.
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
