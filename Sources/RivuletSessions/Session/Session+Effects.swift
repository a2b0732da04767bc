// Owns how a session's effects begin, feed events back and end, and what is said of an app's faults.

import DequeModule
import Logging
package import RivuletEngine
import RivuletObservation
import RivuletStores

extension Session {
    /// Whether an accepted event's effect is still to be begun or waited for: the next event waits.
    var hasEffectUnderWay: Bool { effectsToCome > 0 || effectDriver?.isHoldingQueue == true }

    /// Whether no effect is under way, and no timer.
    var hasIdleEffects: Bool { effectsToCome == 0 && effectDriver?.isIdle != false }

    package func didEnterMemory() {
        account()
        beginLoadedEffects()
    }

    /// Begins what follows from the session's being in memory; once, and not before storage knows it: reads of made-up ids must not
    /// keep sessions in memory.
    func beginLoadedEffects() {
        guard !hasBegunLoadedEffects, isStored, !isRetired else { return }
        hasBegunLoadedEffects = true
        let effect = engine.definition.effect(whenLoaded: visible)
        guard !effect.isNone else { return }
        begin([EventEffect(eventName: "(loaded)", effect: effect)], chain: nil)
    }

    /// Begins the effects of a dispatch that is visible now; the queue goes on when it need not wait for any of them.
    func begin(_ effects: EffectList<Definition.Event>, of dispatch: Pending) {
        if effects.holdsQueue { effectsToCome -= 1 }
        begin(effects.effects, chain: dispatch.chain)
    }

    private func begin(_ effects: [EventEffect<Definition.Event>], chain: EffectChain?) {
        if !hasStoppedEffects { driver().begin(effects, chain: chain) }
        guard !hasEffectUnderWay, !queue.isEmpty else { return }
        // Not called here: effects that feed each other must not grow the stack, nor keep the loop from its other work.
        Confined(self, to: environment.executor).post { $0.runQueue() }
    }

    /// The driver, which is made when there is something to do: most sessions have no effects.
    private func driver() -> EffectDriver<Definition.Event> {
        if let effectDriver { return effectDriver }
        let driver = EffectDriver(environment.effects, host: self, report: effectReport)
        effectDriver = driver
        return driver
    }

    /// Logs what went wrong with an effect; it does not hold the session, which may be gone by then.
    private var effectReport: (_ fault: EffectFault, _ eventName: String) -> Void {
        let logger = environment.logger
        let app = key.app
        return { fault, eventName in
            var metadata: Logger.Metadata = ["app": "\(app)", "event": "\(eventName)"]
            if let error = fault.error { metadata["error"] = "\(LogText.of(error))" }
            logger.error("\(fault)", metadata: metadata)
        }
    }

    package func stopEffects() {
        hasStoppedEffects = true
        effectDriver?.stop()
        guard !isRetired, !queue.isEmpty else { return }
        Confined(self, to: environment.executor).post { $0.runQueue() }
    }

    // MARK: - Faults of the app

    /// A fault of the app: its text is for the log alone.
    func failure(_ error: any Error) -> SessionError {
        let failure = error as? ReducerFailure
        let eventName = failure?.eventName ?? ""
        environment.logger.error(
            "a reducer failed; nothing has changed",
            metadata: ["app": "\(key.app)", "event": "\(eventName)", "error": "\(LogText.of(failure?.error ?? error))"]
        )
        return .reducerFailed(eventName: eventName)
    }
}

extension Session: EffectHost {
    package typealias Event = Definition.Event

    package func enqueue(_ event: Definition.Event, from source: EffectSource) -> EffectFault? {
        guard !isRetired, deletion == nil else { return .late }
        let queuedDispatchesMax = environment.limits.engine.queuedDispatchesMax
        guard queue.count < queuedDispatchesMax else { return .queueFull(limit: queuedDispatchesMax) }
        queue.append(
            QueuedDispatch(events: [event], notes: nil, expected: [], isStrict: false, source: source) { [weak self] in
                guard case .failure(let error) = $0 else { return }
                self?.logFailure(of: event, error)
            }
        )
        return nil
    }

    /// Says that an effect's event failed: once in `RateOfLines.interval`, with the number of those left out before.
    private func logFailure(of event: Definition.Event, _ error: SessionError) {
        guard let leftOut = effectFailures.admit(at: environment.uptime()) else { return }
        var metadata: Logger.Metadata = [
            "app": "\(key.app)", "event": "\(event.eventName)", "error": "\(LogText.of(error))",
        ]
        if leftOut > 0 { metadata["left_out"] = "\(leftOut)" }
        environment.logger.warning("an effect's event failed", metadata: metadata)
    }
}
