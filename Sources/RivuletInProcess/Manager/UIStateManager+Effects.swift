// Owns what follows an event in a manager: the effects of its reducers, and the one function beside them.

import Logging
import RivuletBase
import RivuletEngine

extension UIStateManager {
    /// Runs what the reducers ask for and the function for effects at the same time, and returns when the next event may run.
    func runEffects(of event: any AppEvent, _ state: State, asked: ReducerEffects, source: EffectSource?) async {
        let effect = asked.erased
        if !effect.isNone, !hasStoppedEffects {
            reducerEffects().begin(EventEffect(eventName: event.loggedName, effect: effect), from: source)
        }
        await runFunction(of: event, state)
        guard let ofReducers, ofReducers.isHoldingQueue else { return }
        await withCheckedContinuation { ofReducers.resumeWhenFree($0) }
    }

    /// An event that an effect dispatched begins its turn.
    func effectsEventDidBegin(_ source: EffectSource?) {
        if let source { ofReducers?.eventDidEnd(source) }
    }

    /// Ends the effects of reducers: works are cancelled, timers do not fire, and none begins from now on.
    ///
    /// What ``setEffects(_:)`` has set is called as before. The effects of a manager that is gone end without this.
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

    /// The effects of reducers, whose place is made when there is something to do.
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

    /// Lets effects on other threads have their say.
    private func runEffectJobs() {
        effectExecutor?.runTurn()
    }

    /// Queues an event of an effect; the filter is asked as for any other.
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
