/// Measures the appends of sessions.
package protocol AppendMeter: AnyObject, Sendable {
    /// Records the outcome of an append of `count` entries; called on storage's thread, before the session gets the
    /// outcome.
    func record(_ outcome: Result<AppendOutcome, StorageError>, entries count: Int, _ time: Duration)
}

/// The roles of a storage engine, read from the engine once and not at each request.
package final class SessionStorage: Sendable {
    package let capabilities: StorageCapabilities
    package let log: any LogStorage
    package let past: any PastStorage
    package let answers: any AnswerStorage
    package let directory: any SessionDirectory
    package let lifecycle: any StorageLifecycle
    let meter: (any AppendMeter)?

    /// Takes the roles of an engine; `meter` measures each append.
    package init(_ engine: any StorageEngine, meter: (any AppendMeter)? = nil) {
        capabilities = engine.capabilities
        log = engine.log
        past = engine.past
        answers = engine.answers
        directory = engine.directory
        lifecycle = engine.lifecycle
        self.meter = meter
    }
}
