/// Work that follows an event once its change is durable and published.
///
/// The session's next event waits for `.run(.beforeNextEvent)`, as in WAVE, and for no other effect. Events that an
/// effect dispatches queue behind all events that are queued already. Effects end when their session is deleted or is
/// loaded again after a storage error, and when the server stops.
/// Source: <Tests/Rows/Systems.md#d-15>, D-16.
public struct Effect<Event: AppEvent>: Sendable {
    package let operation: Operation

    package indirect enum Operation: Sendable {
        case none
        case dispatch([Event])
        case run(Work, EffectOrder)
        case merge([Effect])
        case concatenate([Effect])
        case cancel(EffectID)
        case cancellable(Effect, EffectID, EffectsInFlight)
        case detached(Effect)
        case sleep(Duration)
        case ticks(Event, interval: Duration)
        case throttle(Effect, EffectID, interval: Duration, latest: Bool)
    }

    package init(_ operation: Operation) {
        self.operation = operation
    }

    // MARK: - Work

    /// No effect.
    public static var none: Self { Self(.none) }

    /// Queues events in this order, each a dispatch of its own.
    ///
    /// Events that cause each other by `.dispatch` alone are a chain. Events of one chain beyond
    /// `EngineLimits.chainedEventsMax` are dropped, with one line in the log.
    public static func dispatch(_ events: [Event]) -> Self { Self(.dispatch(events)) }

    /// Queues one event.
    public static func dispatch(_ event: Event) -> Self { .dispatch([event]) }

    /// Runs asynchronous work, which dispatches events by a call of its argument: `.run { dispatch in … }`.
    ///
    /// No event waits for the work, so other events may be reduced before the work dispatches its own. The work keeps
    /// the session in memory until it returns, so give the work a time limit of its own. Events of cancelled work are
    /// dropped.
    /// - Parameters:
    ///   - work: The work. Its error is logged, unless there is a handler or the error is a `CancellationError`.
    ///   - handler: Handles the error instead.
    /// - Returns: The effect that does the work.
    public static func run(
        _ work: @escaping @Sendable (_ dispatch: EffectDispatch<Event>) async throws -> Void,
        catch handler: (@Sendable (_ error: any Error, _ dispatch: EffectDispatch<Event>) async -> Void)? = nil
    ) -> Self {
        .run(.besideEvents, work, catch: handler)
    }

    /// Runs asynchronous work with an explicit order: `.run(.beforeNextEvent) { dispatch in … }`.
    ///
    /// With `.beforeNextEvent` the session's next event waits until the work returns. After
    /// `EngineLimits.effectTimeMax` the work is cancelled, and the queue continues. No event waits for work that begins
    /// later than its event: after a timer, a debounce, a throttle or another work.
    /// - Parameters:
    ///   - order: The order of the work and the session's next event.
    ///   - work: The work. Its error is logged, unless there is a handler or the error is a `CancellationError`.
    ///   - handler: Handles the error instead.
    /// - Returns: The effect that does the work.
    public static func run(
        _ order: EffectOrder,
        _ work: @escaping @Sendable (_ dispatch: EffectDispatch<Event>) async throws -> Void,
        catch handler: (@Sendable (_ error: any Error, _ dispatch: EffectDispatch<Event>) async -> Void)? = nil
    ) -> Self {
        Self(.run(Work(body: work, handler: handler), order))
    }

    // MARK: - Timers

    /// Dispatches an event after a delay on the session's clock; no event waits for it.
    public static func after(_ delay: Duration, _ event: Event) -> Self {
        .after(delay, .dispatch(event))
    }

    /// Starts an effect after a delay on the session's clock; no event waits for it.
    public static func after(_ delay: Duration, _ effect: Self) -> Self {
        effect.isNone ? effect : .concatenate(Self(.sleep(delay)), effect).detached()
    }

    /// Dispatches an event at regular intervals, until the timer is cancelled or the session leaves memory.
    ///
    /// The first tick is after one interval. A tick is skipped while the previous tick still waits in the queue. The
    /// shortest interval is `EngineLimits.timerIntervalMin`.
    /// - Parameters:
    ///   - interval: The time between two ticks.
    ///   - id: The name of the timer, for ``cancel(id:)``.
    ///   - running: The treatment of effects that run under this id. `.replace` cancels them, and the new timer begins
    ///     with a whole interval. `.keep` leaves a running timer as it is, with its own interval and event, so an
    ///     effect may ask for the timer again and again.
    ///   - event: The event of each tick.
    /// - Returns: The effect that starts the timer.
    public static func every(
        _ interval: Duration,
        id: some Hashable & Sendable,
        ifRunning running: RunningTimer = .replace,
        _ event: Event
    ) -> Self {
        let inFlight: EffectsInFlight = running == .keep ? .keep : .cancel
        return Self(.cancellable(Self(.ticks(event, interval: interval)), EffectID(id), inFlight)).detached()
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
    /// An effect that fails without a handler, takes too long or is cancelled ends the sequence: the effects after it
    /// do not run.
    public static func concatenate(_ effects: Self...) -> Self { .concatenate(effects) }

    /// Runs effects one after the other.
    ///
    /// An effect that fails without a handler, takes too long or is cancelled ends the sequence: the effects after it
    /// do not run.
    public static func concatenate(_ effects: some Sequence<Self>) -> Self {
        joined(effects, as: Operation.concatenate)
    }

    private static func joined(_ effects: some Sequence<Self>, as join: ([Self]) -> Operation) -> Self {
        let effects = effects.filter { !$0.isNone }
        guard effects.count > 1 else { return effects.first ?? .none }
        return Self(join(effects))
    }

    // MARK: - Cancellation

    /// Cancels the session's effects with this id: work is cancelled, and timers and waiting effects do not fire.
    public static func cancel(id: some Hashable & Sendable) -> Self { Self(.cancel(EffectID(id))) }

    /// Names the effect, so that ``cancel(id:)`` can find it.
    ///
    /// - Parameters:
    ///   - id: The name, of any type. Names are local to the session.
    ///   - cancelInFlight: True if running effects with this name are cancelled first.
    /// - Returns: The same effect, which can be cancelled.
    public func cancellable(id: some Hashable & Sendable, cancelInFlight: Bool = false) -> Self {
        isNone ? self : Self(.cancellable(self, EffectID(id), cancelInFlight ? .cancel : .join))
    }

    /// Returns the same effect, but no event waits for it.
    package func detached() -> Self {
        if case .detached = operation { return self }
        return isNone ? self : Self(.detached(self))
    }

    // MARK: - Rates

    /// Starts the effect after a duration in which no other effect with this id comes.
    ///
    /// An earlier effect with this id is dropped, or cancelled if it has started.
    public func debounce(id: some Hashable & Sendable, for duration: Duration) -> Self {
        isNone
            ? self : .concatenate(Self(.sleep(duration)), self).cancellable(id: id, cancelInFlight: true).detached()
    }

    /// Starts at most one effect with this id in each interval.
    ///
    /// The first effect starts at once. At the interval's end, one of the effects that came within the interval
    /// starts.
    /// - Parameters:
    ///   - id: The name that the effects share; ``cancel(id:)`` drops the waiting effect.
    ///   - interval: The length of an interval. An effect that starts at an interval's end begins the next interval.
    ///   - latest: True to start the last effect that came within an interval, false to start the first.
    /// - Returns: The same effect with this limit; it may never start.
    public func throttle(id: some Hashable & Sendable, for interval: Duration, latest: Bool) -> Self {
        isNone ? self : Self(.throttle(self, EffectID(id), interval: interval, latest: latest)).detached()
    }

    // MARK: - For the engine

    /// True if there is no effect.
    package var isNone: Bool {
        if case .none = operation { true } else { false }
    }

    /// True if the session's next event has to wait at least until the effect has begun.
    package var holdsQueue: Bool {
        switch operation {
        case .dispatch: true
        case .run(_, let order): order == .beforeNextEvent
        case .merge(let effects), .concatenate(let effects): effects.contains { $0.holdsQueue }
        case .cancellable(let effect, _, _): effect.holdsQueue
        case .none, .cancel, .detached, .sleep, .ticks, .throttle: false
        }
    }

    /// A body of asynchronous work, and the handler of its error.
    package struct Work: Sendable {
        let body: @Sendable (_ dispatch: EffectDispatch<Event>) async throws -> Void
        let handler: (@Sendable (_ error: any Error, _ dispatch: EffectDispatch<Event>) async -> Void)?

        /// Runs the body, and passes its error to the handler.
        ///
        /// - Throws: The error of the body if there is no handler; a `CancellationError` even if there is a handler.
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

/// The order of an effect's work and the session's next event.
public enum EffectOrder: Hashable, Sendable {
    /// No event waits for the work.
    case besideEvents
    /// The session's next event waits until the work returns.
    case beforeNextEvent
}

/// The treatment of a timer that runs under the id of a new one.
public enum RunningTimer: Hashable, Sendable {
    /// The running timer ends, and the new one starts.
    case replace
    /// The running timer stays, and the new one does not start.
    case keep
}

/// The treatment of running effects with the name of a new one.
package enum EffectsInFlight: Sendable {
    /// They run on, beside the new one.
    case join
    /// They are cancelled.
    case cancel
    /// They run on, and the new one does not start.
    case keep
}

/// The name of an effect within its session: any hashable value.
///
/// Names are compared as `AnyHashable`, for which the numbers `1` and `1.0` are equal.
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

/// Queues events of an effect in its session, from any thread; the calls of one thread keep their order.
///
/// Events of a cancelled effect are dropped.
public struct EffectDispatch<Event: AppEvent>: Sendable {
    /// The session's clock, which tests control: `try await dispatch.clock.sleep(for: .seconds(1))`.
    public let clock: any Clock<Duration>
    private let send: @Sendable (Event) -> Void

    /// Creates a handle that passes each event to `send`.
    public init(clock: any Clock<Duration> = ContinuousClock(), _ send: @escaping @Sendable (Event) -> Void) {
        self.clock = clock
        self.send = send
    }

    /// Queues the event behind all events that are queued already in the session.
    public func callAsFunction(_ event: Event) {
        send(event)
    }
}
