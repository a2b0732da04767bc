import Logging
import RivuletBase
import RivuletEngine
import RivuletStores

/// The progress of a session's effects, which its ``SessionState`` runs.
struct SessionEffects {
    private var hasBegunLoaded = false
    /// True if no effect begins any more.
    private(set) var hasStopped = false
    /// The log rate limiter for failed events of effects.
    private var failures = LogRateLimiter()

    /// Returns true at the first call only, which begins the effects of a loaded session.
    mutating func beginLoaded() -> Bool {
        defer { hasBegunLoaded = true }
        return !hasBegunLoaded
    }

    mutating func stop() { hasStopped = true }

    /// Decides if the failure of an effect's event is logged now.
    ///
    /// - Returns: The number of lines left out before; nil if this line is left out too.
    mutating func admitFailure(at now: Duration) -> Int? { failures.admit(at: now) }
}

extension Session: SessionEffectHost {
    /// Begins the effects of a loaded session, once, and not before storage has the session.
    ///
    /// Effects that began earlier would keep a session in memory for each made-up id that a client reads.
    func beginLoadedEffects() {
        guard isStored, !machine.isRetired, effects.beginLoaded() else { return }
        if let effects = state.effectsWhenLoaded(standing.state) { begin(effects, chain: nil) }
    }

    /// Begins the effects of a dispatch that is now visible.
    ///
    /// Events that effects have already queued wait for a later turn of the event loop.
    func begin(_ list: AnyObject, chain: EffectChain?) {
        if !effects.hasStopped { state.begin(list, chain: chain) }
        if machine.yield(), !postDrive() { machine.stopYielding() }
    }

    /// Schedules a drive of the session in a later turn of the event loop; returns false if the loop has no room for
    /// the job.
    private func postDrive() -> Bool { LoopBound(self, to: environment.executor).post { $0.drive() } }

    /// Cancels all effects, and begins no more; events that an effect still dispatches are dropped.
    package func stopEffects() {
        effects.stop()
        state.stopEffects()
        if !machine.isRetired, machine.hasQueued, !postDrive() { drive() }
    }

    func enqueue(_ events: DecodedEvents, named name: String, from source: EffectSource) -> EffectError? {
        machine.enqueue(
            fromEffect: QueuedDispatch(.events(events), source: source) { [weak self] in
                guard case .failure(let error) = $0 else { return }
                self?.logFailure(ofEvent: name, error)
            }
        )
    }

    // MARK: - The log

    /// A closure that logs the error of an effect.
    ///
    /// It does not hold the session, which may have left memory before the call.
    var effectReport: (_ error: EffectError, _ eventName: String) -> Void {
        let logger = environment.logger
        let app = key.app
        return { effectError, eventName in
            var metadata: Logger.Metadata = ["app": "\(app)", "event": "\(eventName)"]
            if let error = effectError.error { metadata["error"] = "\(LogText.of(error))" }
            logger.error("\(effectError)", metadata: metadata)
        }
    }

    /// Logs that an effect's event failed, at most once in `LogRateLimiter.interval`, with the number of lines left out
    /// before.
    private func logFailure(ofEvent name: String, _ error: SessionError) {
        guard let leftOut = effects.admitFailure(at: environment.uptime()) else { return }
        var metadata: Logger.Metadata = ["app": "\(key.app)", "event": "\(name)", "error": "\(LogText.of(error))"]
        if leftOut > 0 { metadata["left_out"] = "\(leftOut)" }
        environment.logger.warning("an effect's event failed", metadata: metadata)
    }

    /// Logs the failure of a reducer, and returns the error for the client, without the failure's text.
    func failure(_ error: any Error) -> SessionError {
        let failure = error as? ReducerError
        let eventName = failure?.eventName ?? ""
        environment.logger.error(
            "a reducer failed; nothing has changed",
            metadata: ["app": "\(key.app)", "event": "\(eventName)", "error": "\(LogText.of(failure?.error ?? error))"]
        )
        return .reducerFailed(eventName: eventName)
    }
}
