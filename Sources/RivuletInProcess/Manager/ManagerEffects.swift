import RivuletEngine

/// Runs the effects of reducers for a ``UIStateManager``, and ends them with the manager.
///
/// It is used in the manager's isolation only.
final class ManagerEffects: EffectHost {
    typealias Event = ErasedEvent

    private let surroundings: EffectSurroundings
    private let executor: ManagerExecutor
    private let dispatch: (_ event: any AppEvent, _ source: EffectSource) -> DispatchOutcome?
    private let report: (_ error: EffectError, _ eventName: String) -> Void
    private lazy var driver = EffectDriver(surroundings, host: self, report: report)
    /// The manager's continuation, which is resumed when the effects no longer hold the queue.
    private var waiter: CheckedContinuation<Void, Never>?

    /// Creates the host of the effects; `dispatch` queues an event, or returns nil if the manager is gone.
    init(
        on executor: ManagerExecutor,
        clock: EffectClock,
        limits: EngineLimits,
        dispatch: @escaping (_ event: any AppEvent, _ source: EffectSource) -> DispatchOutcome?,
        report: @escaping (_ error: EffectError, _ eventName: String) -> Void
    ) {
        surroundings = EffectSurroundings(executor: executor, clock: clock, taskExecutor: nil, limits: limits)
        self.executor = executor
        self.dispatch = dispatch
        self.report = report
        // Created here, so that the deinitialiser only has to stop it.
        _ = driver
    }

    deinit {
        driver.stop()
        executor.close()
    }

    /// True if the next event waits for an effect.
    var isHoldingQueue: Bool { driver.isHoldingQueue }

    /// Begins the effect of an event; `source` is the effect that dispatched the event itself.
    func begin(_ effect: EventEffect<ErasedEvent>, from source: EffectSource?) {
        driver.begin([effect], chain: source?.chain)
    }

    /// Marks an event that an effect dispatched as taken from the queue.
    func eventDidEnd(_ source: EffectSource) {
        if let tick = source.tick { driver.tickDidEnd(tick) }
    }

    /// Resumes the manager when no effect holds its queue.
    ///
    /// There is only one waiter at a time.
    func resumeWhenFree(_ waiter: CheckedContinuation<Void, Never>) {
        self.waiter = waiter
        drive()
    }

    /// Ends all effects.
    ///
    /// No effect begins afterwards.
    func stop() {
        driver.stop()
        drive()
    }

    func enqueue(_ event: ErasedEvent, from source: EffectSource) -> EffectError? {
        switch dispatch(event.event, source) {
        case .queued: return nil
        case .refused: return .queueFull(limit: surroundings.limits.queuedDispatchesMax)
        case nil: return .late
        case .filtered:
            // The event is dropped, so its timer may dispatch the next tick.
            eventDidEnd(source)
            return nil
        }
    }

    func drive() {
        guard !driver.isHoldingQueue else { return }
        waiter?.resume()
        waiter = nil
    }
}
