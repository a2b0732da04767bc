// Part of Rivulet. See README.md for the architecture.
// Owns the bounds of the engine.

/// The limits that keep one session from holding up the others.
public struct EngineLimits: Sendable, Hashable {
    /// The longest that a session waits for one effect; it is cancelled then and the next event runs.
    public var effectTimeMax: Duration
    /// The most events in one atomic dispatch.
    public var eventsPerBatchMax: Int
    /// The most dispatches waiting in one session; one more is answered 503.
    public var queuedDispatchesMax: Int

    /// Makes limits; the defaults are those of the documentation.
    public init(
        effectTimeMax: Duration = .seconds(30),
        eventsPerBatchMax: Int = 1_000,
        queuedDispatchesMax: Int = 1_024
    ) {
        self.effectTimeMax = effectTimeMax
        self.eventsPerBatchMax = eventsPerBatchMax
        self.queuedDispatchesMax = queuedDispatchesMax
    }
}
