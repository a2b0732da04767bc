import Logging
import RivuletBase
import RivuletEngine
import RivuletStores

extension Session {
    /// Asks storage; the answer comes back on the session's thread.
    func ask<Answer: Sendable>(
        _ question: (_ storage: SessionStorage, _ reply: @escaping StorageReply<Answer>) -> Void,
        then body: @escaping (_ session: Session, _ answer: Result<Answer, StorageError>) -> Void
    ) {
        question(environment.storage, environment.executor.reply(to: self, body))
    }

    /// Gives storage its next work.
    func store(_ turn: SessionMachine.StorageTurn) {
        switch turn {
        case .create(let batch): storeCreation(batch)
        case .storeWhole(let head): storeWhole(at: head)
        case .append(let batch, let head): append(batch, at: .after(head))
        case .delete:
            ask {
                $0.log.delete(key, reply: $1)
            } then: {
                $0.deletionDidFinish($1)
            }
        }
    }

    // MARK: - The log

    private func append(_ batch: CommitQueue.Batch, at point: AppendPoint) {
        let kept = KeptAnswers(batch.answers, droppingBefore: oldestKept)
        let append = PendingAppend(batch.entries, of: self)
        environment.storage.log.append(key, at: point, batch.entries, keeping: kept) { append.take($0) }
    }

    /// The first event, or an explicit request, makes storage know the session.
    private func storeCreation(_ batch: CommitQueue.Batch) {
        let time = batch.entries.first?.time ?? environment.wallClock()
        // What a client has asked for, or the default of this build, which a later one need not have any more.
        let document = machine.initial?.document ?? persistentJSON(of: machine.loggedState)
        let snapshot = StateSnapshot(version: 0, schema: state.schema, state: document)
        log.willCreate(at: time, snapshotBytes: document.count)
        let epoch = machine.initial?.epoch ?? standing.epoch
        guard batch.isEmpty else {
            return append(batch, at: .creating(epoch: epoch, time: time, snapshot: snapshot))
        }
        ask {
            $0.log.create(key, epoch: epoch, time: time, snapshot: snapshot, reply: $1)
        } then: {
            $0.creationDidFinish($1)
        }
    }

    private func creationDidFinish(_ outcome: Result<CreateOutcome, StorageError>) {
        switch outcome {
        case .success(.created(let head)): didAppend([], head)
        case .success(.exists): otherWriterDid("created the session")
        case .failure(let error): storageDidFail(error)
        }
    }

    func appendDidFinish(_ outcome: Result<AppendOutcome, StorageError>, entries: [LogEntry]) {
        switch outcome {
        case .success(.committed(let head)): didAppend(entries, head)
        case .success(.conflict): otherWriterDid("extended the log")
        case .failure(let error): storageDidFail(error)
        }
    }

    private func didAppend(_ entries: [LogEntry], _ head: SessionHead) {
        machine.didAppend(head)
        log.didAppend(entries)
        beginLoadedEffects()
        drive()
    }

    // MARK: - Snapshots

    /// Stores the document in its new shape, at the version that it was migrated from, so that what follows in the log is of one shape with
    /// it; or for the first time.
    private func storeWhole(at head: SessionHead) {
        let snapshot = snapshot(at: head)
        let from = log.retained.from
        ask {
            $0.log.compact(key, at: head, snapshot: snapshot, keepingFrom: from, keepingSince: .min, reply: $1)
        } then: { session, outcome in
            if case .success(.compacted(let head, _)) = outcome {
                session.didBeginSnapshot(version: head.version, bytes: snapshot.state.count)
            }
            // Entries cannot follow a document in another shape: a failure is theirs too.
            if case .failure(let error) = outcome { return session.storageDidFail(error) }
            session.snapshotDidFinish(outcome)
        }
    }

    /// Stores a snapshot once the log since the last one has grown enough, so that loading stays short and writing stays cheap.
    func storeSnapshotIfDue(at head: SessionHead) {
        let (now, limits) = (environment.wallClock(), environment.logLimits)
        if log.isSnapshotDue(at: head.version, now: now, limits: limits) { storeSnapshot(at: head, now: now) }
    }

    func storeSnapshot(at head: SessionHead, now: Int64) {
        let snapshot = snapshot(at: head)
        let keeping = SessionLog.keeping(at: head.version, now: now, limits: environment.logLimits)
        machine.beginStorage()
        // Also when it fails: the log is still whole then, and it is tried again when that has grown.
        didBeginSnapshot(version: head.version, bytes: snapshot.state.count)
        ask {
            $0.log.compact(
                key,
                at: head,
                snapshot: snapshot,
                keepingFrom: keeping.from,
                keepingSince: keeping.since,
                reply: $1
            )
        } then: {
            $0.snapshotDidFinish($1)
        }
    }

    private func didBeginSnapshot(version: UInt64, bytes: Int) {
        log.didBeginSnapshot(version: version, bytes: bytes, now: environment.wallClock())
    }

    private func snapshotDidFinish(_ outcome: Result<CompactionOutcome, StorageError>) {
        switch outcome {
        case .success(.compacted(let head, let retained)):
            machine.didStoreSnapshot(head)
            log.didCompact(keeping: retained)
        case .success(.conflict): return otherWriterDid("extended the log")
        case .failure(let error):
            machine.didNotStoreSnapshot()
            environment.logger.error(
                "storing a snapshot failed",
                metadata: ["app": "\(key.app)", "error": "\(LogText.of(error))"]
            )
        }
        drive()
    }

    private func snapshot(at head: SessionHead) -> StateSnapshot {
        StateSnapshot(version: head.version, schema: state.schema, state: persistentJSON(of: machine.loggedState))
    }

    /// The state as it goes to disk: no transient and no omitted fields.
    func persistentJSON(of box: OpaqueBox) -> [UInt8] {
        state.persistentJSON(of: box, capacity: max(1_024, log.snapshotBytes))
    }

    // MARK: - Failures

    private func otherWriterDid(_ deed: String) {
        retire(failing: .storage(.unavailable(detail: "another writer \(deed); try once more")))
    }

    /// Takes back everything that is not durable.
    ///
    /// What was never certain makes the session leave memory.
    private func storageDidFail(_ error: StorageError) {
        environment.logger.error("storage failed", metadata: ["app": "\(key.app)", "error": "\(LogText.of(error))"])
        if case .indeterminate = error { return retire(failing: .storage(error)) }
        let failed = machine.storageDidFail()
        idempotency.storageDidFail()
        tell(failed, .storage(error))
        drive()
    }

    /// Tells all who wait that what they asked for failed.
    func tell(_ failed: SessionMachine.Failed, _ error: SessionError) {
        for dispatch in failed.dispatches { dispatch.reply(.failure(error)) }
        for dispatch in failed.queued { dispatch.reply(.failure(error)) }
        for reply in failed.creations { reply(.failure(error)) }
        failed.deletion?(.failure(error))
    }
}
