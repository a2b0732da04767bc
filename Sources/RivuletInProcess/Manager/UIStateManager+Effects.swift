// Runs an event's effects in a manager: the effects of its reducers, and the function of `setEffects(_:)`.

import Logging
import RivuletBase
import RivuletEngine

extension UIStateManager {
    /// Starts the reducers' effects, and runs the function of ``setEffects(_:)`` at the same time.
    ///
    /// Returns when the next event may run.
    func runEffects(of event: any AppEvent, _ state: State, asked: ReducerEffects, source: EffectSource?) async {
        let effect = asked.erased
        if !effect.isNone, !hasStoppedEffects {
            reducerEffects().begin(EventEffect(eventName: event.loggedName, effect: effect), from: source)
        }
        await runFunction(of: event, state)
        guard let ofReducers, ofReducers.isHoldingQueue else { return }
        await withCheckedContinuation { ofReducers.resumeWhenFree($0) }
    }

    /// Marks an event as taken from the queue, for the effect that dispatched it.
    ///
    /// Does nothing if no effect dispatched the event (`source` is nil).
    func effectsEventDidBegin(_ source: EffectSource?) {
        if let source { ofReducers?.eventDidEnd(source) }
    }

    /// Ends the reducers' effects: their work is cancelled, their timers do not fire, and no further effect begins.
    ///
    /// The function of ``setEffects(_:)`` is still called. When the manager is deallocated, its effects end
    /// without this call.
    public func stopEffects() {
        hasStoppedEffects = true
        ofReducers?.stop()
    }

    private func runFunction(of event: any AppEvent, _ state: State) async {
        guard let effects else { return }
        let timeMax = limits.effectTimeMax
        let isInTime = await TimeLimit.run(timeMax, clock: clock) { await effects(event, state) }
        if !isInTime {
            logger.error("the effect of \(event.loggedName) took longer than \(timeMax), and was cancelled")
        }
    }

    /// Returns the host of the reducers' effects, which is created when it is first needed.
    private func reducerEffects() -> ManagerEffects {
        if let ofReducers { return ofReducers }
        let executor = ManagerExecutor { [weak self] in
            Task { await self?.runEffectJobs() }
        }
        let logger = logger
        let made = ManagerEffects(
            on: executor,
            clock: EffectClock(clock),
            limits: limits,
            dispatch: { [weak self] event, source in self?.enqueue(event, from: source) },
            report: { fault, eventName in
                let detail = fault.error.map { ": \(LogText.of($0))" } ?? ""
                logger.error("\(fault), after \(eventName)\(detail)")
            }
        )
        effectExecutor = executor
        ofReducers = made
        return made
    }

    /// Runs the jobs that effects posted from other threads.
    private func runEffectJobs() {
        effectExecutor?.runTurn()
    }

    /// Queues an event that an effect dispatched.
    ///
    /// The dispatch filter applies to the event too.
    private nonisolated func enqueue(_ event: any AppEvent, from source: EffectSource) -> DispatchOutcome {
        guard isTaken(event) else { return .filtered }
        switch inbox.add(.event(QueuedEvent(event: event), source)) {
        case .waits: return .queued
        case .starts:
            work()
            return .queued
        case .refused: return .refused
        }
    }
}
