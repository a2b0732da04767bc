import Logging
import RivuletBase
import RivuletEngine
import RivuletStores

extension Session {
    /// Sends storage the request that `question` makes; `body` takes the answer on the session's thread.
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
        let kept = IdempotencyRecords(batch.answers, droppingBefore: oldestKept)
        let append = PendingAppend(batch.entries, of: self)
        environment.storage.log.append(key, at: point, batch.entries, keeping: kept) { append.take($0) }
    }

    /// Creates the session in storage, at its first event or at an explicit request.
    private func storeCreation(_ batch: CommitQueue.Batch) {
        // The document that a client asked for, or the default. The default is stored too, because a later build may
        // have another default.
        let document = machine.initial?.document
        let (held, capacity) = (state.held(machine.loggedState), documentCapacity)
        work(bytes: document == nil ? machine.headSize.bytes : 0) {
            document ?? held.persistentJSON(capacity)
        } then: { session, document in
            // A retired session has answered all waiting requests already.
            if !session.machine.isRetired { session.storeCreation(batch, of: document) }
        }
    }

    private func storeCreation(_ batch: CommitQueue.Batch, of document: [UInt8]) {
        let time = batch.entries.first?.time ?? environment.wallClock()
        let snapshot = StateSnapshot(version: 0, schema: state.schema, state: document)
        log.willCreate(at: time, snapshotBytes: document.count)
        let epoch = machine.initial?.epoch ?? standing.epoch
        guard batch.isEmpty else {
            return append(batch, at: .creating(epoch: epoch, time: time, snapshot: snapshot, owner: machine.owner))
        }
        ask {
            $0.log.create(key, epoch: epoch, time: time, snapshot: snapshot, owner: machine.owner, reply: $1)
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

    /// Stores the whole document, because it was migrated or because storage does not have all its fields yet.
    ///
    /// A migrated document is stored at the version from which it was migrated, so that it has the same shape as the
    /// entries after it.
    private func storeWhole(at head: SessionHead) {
        let from = log.retained.from
        writeSnapshot(at: head) { session, snapshot in
            session.ask {
                $0.log.compact(session.key, at: head, snapshot: snapshot, keeping: LogKeeping(from: from), reply: $1)
            } then: { session, outcome in
                if case .success(.compacted(let head, _)) = outcome {
                    session.didBeginSnapshot(version: head.version, bytes: snapshot.state.count)
                }
                // Entries cannot follow a document in another shape, so this failure fails the waiting entries too.
                if case .failure(let error) = outcome { return session.storageDidFail(error) }
                session.snapshotDidFinish(outcome)
            }
        }
    }

    /// Stores a snapshot if the log has grown or aged enough since the last one.
    ///
    /// So loads stay short, and a large state is not written often.
    func storeSnapshotIfDue(at head: SessionHead) {
        let (now, limits) = (environment.wallClock(), environment.logLimits)
        if log.isSnapshotDue(at: head.version, now: now, limits: limits) { storeSnapshot(at: head, now: now) }
    }

    func storeSnapshot(at head: SessionHead, now: Int64) {
        let keeping = log.keeping(at: head.version, now: now, limits: environment.logLimits)
        machine.beginStorage()
        writeSnapshot(at: head) { session, snapshot in
            // The counters of the log restart even if storing the snapshot fails. The log is complete without the
            // snapshot, and the next attempt comes when the log has grown again.
            session.didBeginSnapshot(version: head.version, bytes: snapshot.state.count)
            session.ask {
                $0.log.compact(session.key, at: head, snapshot: snapshot, keeping: keeping, reply: $1)
            } then: {
                $0.snapshotDidFinish($1)
            }
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

    /// Makes a snapshot of the logged state as it is now; storage gets no other work of the session meanwhile.
    private func writeSnapshot(
        at head: SessionHead,
        then body: @escaping (_ session: Session, _ snapshot: StateSnapshot) -> Void
    ) {
        let (held, capacity, schema) = (state.held(machine.loggedState), documentCapacity, state.schema)
        work(bytes: machine.headSize.bytes) {
            StateSnapshot(version: head.version, schema: schema, state: held.persistentJSON(capacity))
        } then: { session, snapshot in
            // A retired session has answered all waiting requests already.
            if !session.machine.isRetired { body(session, snapshot) }
        }
    }

    /// The expected bytes of the next document.
    var documentCapacity: Int { max(1_024, log.snapshotBytes) }

    // MARK: - Failures

    private func otherWriterDid(_ deed: String) {
        retire(failing: .storage(.unavailable(detail: "another writer \(deed); try once more")))
    }

    /// Rolls back everything that is not durable.
    ///
    /// If the outcome is indeterminate, the session leaves memory.
    private func storageDidFail(_ error: StorageError) {
        // A client that exceeds its quota is no trouble of the storage.
        if case .quota = error {} else { logFailure(error) }
        if case .indeterminate = error { return retire(failing: .storage(error)) }
        let failed = machine.storageDidFail()
        idempotency.storageDidFail()
        tell(failed, .storage(error))
        drive()
    }

    private func logFailure(_ error: StorageError) {
        environment.logger.error("storage failed", metadata: ["app": "\(key.app)", "error": "\(LogText.of(error))"])
    }

    /// Answers the failed requests with the error.
    func tell(_ failed: SessionMachine.FailedRequests, _ error: SessionError) {
        for dispatch in failed.dispatches { dispatch.reply(.failure(error)) }
        for dispatch in failed.queued { dispatch.reply(.failure(error)) }
        for reply in failed.creations { reply(.failure(error)) }
        failed.deletion?(.failure(error))
    }
}
