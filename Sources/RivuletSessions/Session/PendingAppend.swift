import RivuletEngine

/// An append under way; it passes storage's answer to the session.
final class PendingAppend: @unchecked Sendable {
    // SAFETY: `session` is touched on its executor's thread only, which is checked. `outcome` is written once, before
    // the executor has the job, and read by that job.
    private let session: Session
    private let executor: any SessionExecutor
    private let meter: (any AppendMeter)?
    private let entries: [LogEntry]
    private let start = ContinuousClock.now
    private var outcome: Result<AppendOutcome, StorageError>?

    init(_ entries: [LogEntry], of session: Session) {
        self.session = session
        self.entries = entries
        executor = session.environment.executor
        meter = session.environment.storage.meter
    }

    /// Takes storage's answer, once, on any thread.
    ///
    /// The append is measured before the answer is passed on. So metrics that a client reads after an answer include
    /// that answer's append.
    func take(_ outcome: Result<AppendOutcome, StorageError>) {
        meter?.record(outcome, entries: entries.count, ContinuousClock.now - start)
        self.outcome = outcome
        executor.postReply { self.deliver() }
    }

    private func deliver() {
        precondition(executor.isCurrent, "an append was answered outside of its session's thread")
        guard let outcome = outcome.take() else { return }
        session.appendDidFinish(outcome, entries: entries)
    }
}
