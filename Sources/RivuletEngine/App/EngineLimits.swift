/// The limits that keep one session from holding up the others.
public struct EngineLimits: Sendable, Hashable {
    /// The longest that a session waits for the effect of one event; what it waits for is cancelled then and the next event runs.
    public var effectTimeMax: Duration
    /// The most works of effects per session that have not returned; a further effect is not started.
    public var effectsUnderWayMax: Int
    /// The most timers per session, delays of `debounce` and intervals of `throttle` included; a further one is not started.
    public var timersMax: Int
    /// The shortest interval of a repeating timer.
    public var timerIntervalMin: Duration
    /// The most events that `.dispatch` effects bring forth in consequence of one event; further ones are dropped.
    public var chainedEventsMax: Int
    /// The most events in one atomic dispatch.
    public var eventsPerBatchMax: Int
    /// The most dispatches waiting in one session; one more is answered 503.
    public var queuedDispatchesMax: Int

    /// Makes limits; the defaults are those of the documentation.
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
