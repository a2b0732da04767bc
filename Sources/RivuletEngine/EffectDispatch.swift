// Part of Rivulet. See README.md for the architecture.
// Owns the handle by which a running effect feeds events back.

/// Queues events of one session from an effect, from any thread; calls keep their order.
public struct EffectDispatch<Event: AppEvent>: Sendable {
    private let send: @Sendable (Event) -> Void

    /// Makes a handle that hands each event to `send`.
    public init(_ send: @escaping @Sendable (Event) -> Void) {
        self.send = send
    }

    /// Queues the event behind everything that is already queued in the session.
    public func callAsFunction(_ event: Event) {
        send(event)
    }
}
