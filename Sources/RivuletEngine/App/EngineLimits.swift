/// The limits that prevent one session from delaying others.
public struct EngineLimits: Sendable, Hashable {
    /// The longest time that a session waits for the `.run(.beforeNextEvent)` of one event.
    ///
    /// Then the work is cancelled, and the next event runs.
    public var effectTimeMax: Duration
    /// The most works of effects that run in one session at the same time; a further work is not started.
    public var effectsUnderWayMax: Int
    /// The most timers per session, including the delays of `debounce` and the intervals of `throttle`.
    ///
    /// A further timer is not started.
    public var timersMax: Int
    /// The shortest interval of a repeating timer.
    public var timerIntervalMin: Duration
    /// The most events that one event causes by `.dispatch` effects alone; further events are dropped.
    public var chainedEventsMax: Int
    /// The most events in one atomic dispatch.
    public var eventsPerBatchMax: Int
    /// The most dispatches that wait in one session; a further dispatch is answered 503.
    public var queuedDispatchesMax: Int

    /// Creates limits with the documented defaults.
    public init(
        effectTimeMax: Duration = .seconds(30),
        effectsUnderWayMax: Int = 100,
        timersMax: Int = 100,
        timerIntervalMin: Duration = .milliseconds(1),
        chainedEventsMax: Int = 1_000,
        eventsPerBatchMax: Int = 1_000,
        queuedDispatchesMax: Int = 1_024
    ) {
        self.effectTimeMax = effectTimeMax
        self.effectsUnderWayMax = effectsUnderWayMax
        self.timersMax = timersMax
        self.timerIntervalMin = timerIntervalMin
        self.chainedEventsMax = chainedEventsMax
        self.eventsPerBatchMax = eventsPerBatchMax
        self.queuedDispatchesMax = queuedDispatchesMax
    }
}
