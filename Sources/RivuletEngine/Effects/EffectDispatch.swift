/// Queues events of one session from an effect, from any thread; calls keep their order.
///
/// Once its effect is cancelled, its events are dropped.
public struct EffectDispatch<Event: AppEvent>: Sendable {
    /// The session's clock, which tests control: `try await dispatch.clock.sleep(for: .seconds(1))`.
    public let clock: any Clock<Duration>
    private let send: @Sendable (Event) -> Void

    /// Makes a handle that hands each event to `send`.
    public init(clock: any Clock<Duration> = ContinuousClock(), _ send: @escaping @Sendable (Event) -> Void) {
        self.clock = clock
        self.send = send
    }

    /// Queues the event behind everything that is already queued in the session.
    public func callAsFunction(_ event: Event) {
        send(event)
    }
}
