import RivuletEngine

/// Carries out effects of reducers for a ``UIStateManager``, and ends them when it goes.
///
/// Lives in the manager's isolation.
final class ManagerEffects: EffectHost {
    typealias Event = ErasedEvent

    private let surroundings: EffectSurroundings
    private let executor: ManagerExecutor
    private let dispatch: (_ event: any AppEvent, _ source: EffectSource) -> DispatchOutcome?
    private let report: (_ fault: EffectFault, _ eventName: String) -> Void
    private lazy var driver = EffectDriver(surroundings, host: self, report: report)
    /// The manager, which goes on with its next event when the effects let it.
    private var waiter: CheckedContinuation<Void, Never>?

    /// Makes the place of effects; `dispatch` queues an event, or answers nil when there is no manager any more.
    init(
        on executor: ManagerExecutor,
        clock: EffectClock,
        limits: EngineLimits,
        dispatch: @escaping (_ event: any AppEvent, _ source: EffectSource) -> DispatchOutcome?,
        report: @escaping (_ fault: EffectFault, _ eventName: String) -> Void
    ) {
        surroundings = EffectSurroundings(executor: executor, clock: clock, taskExecutor: nil, limits: limits)
        self.executor = executor
        self.dispatch = dispatch
        self.report = report
        // Made here, so that the end of this object only has to stop it.
        _ = driver
    }

    deinit {
        driver.stop()
        executor.close()
    }

    /// Whether the next event waits.
    var isHoldingQueue: Bool { driver.isHoldingQueue }

    /// Begins what follows an event; `source` is the effect that the event itself comes from.
    func begin(_ effect: EventEffect<ErasedEvent>, from source: EffectSource?) {
        driver.begin([effect], chain: source?.chain)
    }

    /// An event of an effect has had its turn.
    func eventDidEnd(_ source: EffectSource) {
        if let tick = source.tick { driver.tickDidEnd(tick) }
    }

    /// Resumes the manager when no effect holds its queue; there is one who waits.
    func resumeWhenFree(_ waiter: CheckedContinuation<Void, Never>) {
        self.waiter = waiter
        drive()
    }

    /// Ends all effects; none begins any more.
    func stop() {
        driver.stop()
        drive()
    }

    func enqueue(_ event: ErasedEvent, from source: EffectSource) -> EffectFault? {
        switch dispatch(event.event, source) {
        case .queued: return nil
        case .refused: return .queueFull(limit: surroundings.limits.queuedDispatchesMax)
        case nil: return .late
        case .filtered:
            // It has had its turn, as far as its timer is concerned.
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
