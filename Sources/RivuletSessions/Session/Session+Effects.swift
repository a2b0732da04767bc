import Logging
import RivuletBase
import RivuletEngine
import RivuletStores

/// How far a session is with its effects, which its ``SessionState`` runs.
struct SessionEffects {
    private var hasBegunLoaded = false
    /// Whether no effect begins any more.
    private(set) var hasStopped = false
    /// Keeps an effect that is refused again and again from filling the log.
    private var failures = RateOfLines()

    /// Whether what follows from the session's being in memory begins now: once.
    mutating func beginLoaded() -> Bool {
        defer { hasBegunLoaded = true }
        return !hasBegunLoaded
    }

    mutating func stop() { hasStopped = true }

    /// Whether the log is told now of an effect's event that failed.
    ///
    /// - Returns: How many lines were left out before; nil: this one is left out too.
    mutating func admitFailure(at now: Duration) -> Int? { failures.admit(at: now) }
}

extension Session: SessionEffectHost {
    /// Begins what follows from the session's being in memory; once, and not before storage knows it: reads of made-up ids must not
    /// keep sessions in memory.
    func beginLoadedEffects() {
        guard isStored, !machine.isRetired, effects.beginLoaded() else { return }
        if let effects = state.effectsWhenLoaded(standing.state) { begin(effects, chain: nil) }
    }

    /// Begins the effects of a dispatch that is visible now; the queue goes on when it need not wait for any of them.
    func begin(_ list: AnyObject, chain: EffectChain?) {
        if !effects.hasStopped { state.begin(list, chain: chain) }
        if machine.yield(), !postDrive() { machine.stopYielding() }
    }

    /// Has the session driven in a later turn of the loop; false: the loop has no room for the job.
    private func postDrive() -> Bool { Confined(self, to: environment.executor).post { $0.drive() } }

    /// Cancels all effects, and begins none any more; whatever one still dispatches is dropped.
    package func stopEffects() {
        effects.stop()
        state.stopEffects()
        if !machine.isRetired, machine.hasQueued, !postDrive() { drive() }
    }

    func enqueue(_ events: DecodedEvents, named name: String, from source: EffectSource) -> EffectFault? {
        machine.enqueue(
            fromEffect: QueuedDispatch(.events(events), source: source) { [weak self] in
                guard case .failure(let error) = $0 else { return }
                self?.logFailure(ofEvent: name, error)
            }
        )
    }

    // MARK: - The log

    /// Logs what went wrong with an effect; it does not hold the session, which may be gone by then.
    var effectReport: (_ fault: EffectFault, _ eventName: String) -> Void {
        let logger = environment.logger
        let app = key.app
        return { fault, eventName in
            var metadata: Logger.Metadata = ["app": "\(app)", "event": "\(eventName)"]
            if let error = fault.error { metadata["error"] = "\(LogText.of(error))" }
            logger.error("\(fault)", metadata: metadata)
        }
    }

    /// Says that an effect's event failed: once in `RateOfLines.interval`, with the number of those left out before.
    private func logFailure(ofEvent name: String, _ error: SessionError) {
        guard let leftOut = effects.admitFailure(at: environment.uptime()) else { return }
        var metadata: Logger.Metadata = ["app": "\(key.app)", "event": "\(name)", "error": "\(LogText.of(error))"]
        if leftOut > 0 { metadata["left_out"] = "\(leftOut)" }
        environment.logger.warning("an effect's event failed", metadata: metadata)
    }

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
