// Part of Rivulet. See README.md for the architecture.
// Owns what an app wants done after an event's change is committed.

/// What follows an event once its change is durable and published.
///
/// The session's next event waits until the effect is done, as in WAVE; events that it dispatches queue behind everything that is
/// already queued. Source: spec/systems.md D-15, D-16.
public enum Effect<Event: AppEvent>: Sendable {
    /// Nothing follows.
    case none
    /// These events are queued, in this order.
    case dispatch([Event])
    /// Asynchronous work, cancelled when it takes longer than `EngineLimits.effectTimeMax`; it feeds events back by calling its argument.
    case run(@Sendable (_ dispatch: EffectDispatch<Event>) async -> Void)

    /// Queues one event.
    public static func dispatch(_ event: Event) -> Self { .dispatch([event]) }
}
