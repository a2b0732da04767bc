/// What follows an event once its change is durable and published.
///
/// The session's next event waits for `.dispatch` and `.run`, as in WAVE; it does not wait for `.detached`, `.after`, `.every`, `debounce`
/// and `throttle`. Events that an effect dispatches queue behind everything that is already queued. Effects end with their session: when it
/// is deleted, when it leaves memory and when the server stops. Source: <Tests/Rows/Systems.md#d-15>, D-16.
public struct Effect<Event: AppEvent>: Sendable {
    package let operation: Operation

    package indirect enum Operation: Sendable {
        case none
        case dispatch([Event])
        case run(Work)
        case merge([Effect])
        case concatenate([Effect])
        case cancel(EffectID)
        case cancellable(Effect, EffectID, cancelInFlight: Bool)
        case detached(Effect)
        case sleep(Duration)
        case ticks(Event, interval: Duration)
        case throttle(Effect, EffectID, interval: Duration, latest: Bool)
    }

    package init(_ operation: Operation) {
        self.operation = operation
    }

    // MARK: - Work

    /// Nothing follows.
    public static var none: Self { Self(.none) }

    /// Queues events in this order, each a dispatch of its own.
    ///
    /// Events that only such effects bring forth are counted, by the event from outside that began them: what goes beyond
    /// `EngineLimits.chainedEventsMax` is dropped and logged.
    public static func dispatch(_ events: [Event]) -> Self { Self(.dispatch(events)) }

    /// Queues one event.
    public static func dispatch(_ event: Event) -> Self { .dispatch([event]) }

    /// Asynchronous work that the session's next event waits for; it feeds events back by calling its argument.
    ///
    /// When the session has waited for `EngineLimits.effectTimeMax`, the work is cancelled and the queue goes on. A cancelled work's events
    /// are dropped.
    /// - Parameters:
    ///   - work: The work. An error that it throws is logged, unless there is a handler or it is a `CancellationError`.
    ///   - handler: Takes the error instead.
    /// - Returns: The effect that does the work.
    public static func run(
        _ work: @escaping @Sendable (_ dispatch: EffectDispatch<Event>) async throws -> Void,
        catch handler: (@Sendable (_ error: any Error, _ dispatch: EffectDispatch<Event>) async -> Void)? = nil
    ) -> Self {
        Self(.run(Work(body: work, handler: handler)))
    }

    /// Asynchronous work that no event waits for and that may last as long as the session is in memory.
    ///
    /// - Parameters:
    ///   - work: The work. An error that it throws is logged, unless there is a handler or it is a `CancellationError`.
    ///   - handler: Takes the error instead.
    /// - Returns: The effect that does the work.
    public static func detached(
        _ work: @escaping @Sendable (_ dispatch: EffectDispatch<Event>) async throws -> Void,
        catch handler: (@Sendable (_ error: any Error, _ dispatch: EffectDispatch<Event>) async -> Void)? = nil
    ) -> Self {
        .run(work, catch: handler).detached()
    }

    // MARK: - Timers

    /// Dispatches an event when the time is over, on the session's clock; no event waits for it.
    public static func after(_ delay: Duration, _ event: Event) -> Self {
        .after(delay, .dispatch(event))
    }

    /// Starts an effect when the time is over, on the session's clock; no event waits for it.
    public static func after(_ delay: Duration, _ effect: Self) -> Self {
        effect.isNone ? effect : .concatenate(Self(.sleep(delay)), effect).detached()
    }

    /// Dispatches an event at regular intervals, the first after one interval, until it is cancelled or the session leaves memory.
    ///
    /// A timer of the same id that runs already is replaced. A tick is left out while the one before still waits in the queue. Intervals
    /// below `EngineLimits.timerIntervalMin` are that long.
    public static func every(_ interval: Duration, id: some Hashable & Sendable, _ event: Event) -> Self {
        Self(.ticks(event, interval: interval)).cancellable(id: id, cancelInFlight: true).detached()
    }

    // MARK: - Several

    /// Runs effects at the same time.
    public static func merge(_ effects: Self...) -> Self { .merge(effects) }

    /// Runs effects at the same time.
    public static func merge(_ effects: some Sequence<Self>) -> Self {
        joined(effects, as: Operation.merge)
    }

    /// Runs effects one after the other.
    ///
    /// One that failed without a handler, took too long or was cancelled ends the row: what stands behind it does not run.
    public static func concatenate(_ effects: Self...) -> Self { .concatenate(effects) }

    /// Runs effects one after the other.
    ///
    /// One that failed without a handler, took too long or was cancelled ends the row: what stands behind it does not run.
    public static func concatenate(_ effects: some Sequence<Self>) -> Self {
        joined(effects, as: Operation.concatenate)
    }

    private static func joined(_ effects: some Sequence<Self>, as join: ([Self]) -> Operation) -> Self {
        let effects = effects.filter { !$0.isNone }
        guard effects.count > 1 else { return effects.first ?? .none }
        return Self(join(effects))
    }

    // MARK: - Cancellation

    /// Cancels the session's effects of this id: work is cancelled, timers and what waits for its time do not fire.
    public static func cancel(id: some Hashable & Sendable) -> Self { Self(.cancel(EffectID(id))) }

    /// Gives the effect a name by which ``cancel(id:)`` finds it.
    ///
    /// - Parameters:
    ///   - id: The name, of any type; names are the session's own.
    ///   - cancelInFlight: Whether effects of this name that are under way are cancelled first.
    /// - Returns: The same effect, which can be cancelled.
    public func cancellable(id: some Hashable & Sendable, cancelInFlight: Bool = false) -> Self {
        isNone ? self : Self(.cancellable(self, EffectID(id), cancelInFlight: cancelInFlight))
    }

    /// The same effect, without any event waiting for it.
    public func detached() -> Self {
        if case .detached = operation { return self }
        return isNone ? self : Self(.detached(self))
    }

    // MARK: - Rates

    /// Starts the effect once no other of this id has come for so long; one that came earlier is dropped, or cancelled if it has started.
    public func debounce(id: some Hashable & Sendable, for duration: Duration) -> Self {
        isNone
            ? self : .concatenate(Self(.sleep(duration)), self).cancellable(id: id, cancelInFlight: true).detached()
    }

    /// Starts at most one effect of this id in each interval: the first at once, and at the interval's end one of those that came within it.
    ///
    /// - Parameters:
    ///   - id: The name that the effects share; ``cancel(id:)`` drops the one that waits.
    ///   - interval: How long an interval is; one that starts an effect at its end begins the next.
    ///   - latest: Whether the last or the first of those that came within an interval starts at its end.
    /// - Returns: The same effect, which starts when its turn comes, if ever.
    public func throttle(id: some Hashable & Sendable, for interval: Duration, latest: Bool) -> Self {
        isNone ? self : Self(.throttle(self, EffectID(id), interval: interval, latest: latest)).detached()
    }

    // MARK: - For the engine

    /// Whether nothing follows.
    package var isNone: Bool {
        if case .none = operation { true } else { false }
    }

    /// Whether the session's next event may have to wait for it.
    package var holdsQueue: Bool {
        switch operation {
        case .dispatch, .run: true
        case .merge(let effects), .concatenate(let effects): effects.contains { $0.holdsQueue }
        case .cancellable(let effect, _, _): effect.holdsQueue
        case .none, .cancel, .detached, .sleep, .ticks, .throttle: false
        }
    }

    /// A body of asynchronous work, and who takes its error.
    package struct Work: Sendable {
        let body: @Sendable (_ dispatch: EffectDispatch<Event>) async throws -> Void
        let handler: (@Sendable (_ error: any Error, _ dispatch: EffectDispatch<Event>) async -> Void)?

        /// Runs the body, and the handler if there is one for its error.
        ///
        /// - Throws: what the body throws and nobody handles.
        package func run(_ dispatch: EffectDispatch<Event>) async throws {
            do {
                try await body(dispatch)
            } catch let error as CancellationError {
                throw error
            } catch {
                guard let handler else { throw error }
                await handler(error, dispatch)
            }
        }
    }
}

/// The name of an effect within its session: any hashable value, equal only to a value of the same type.
package struct EffectID: Hashable, Sendable, CustomStringConvertible {
    private let base: any Hashable & Sendable

    package init(_ base: some Hashable & Sendable) {
        self.base = base
    }

    package var description: String { "\(base)" }

    package static func == (left: EffectID, right: EffectID) -> Bool {
        left.hashable == right.hashable
    }

    package func hash(into hasher: inout Hasher) {
        hashable.hash(into: &hasher)
    }

    private var hashable: AnyHashable { AnyHashable(base) }
}

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
