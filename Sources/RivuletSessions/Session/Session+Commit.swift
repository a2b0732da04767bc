import Logging
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletStores

/// What one append carries.
private struct Batch {
    var entries: [LogEntry] = []
    var answers: [KeptAnswer] = []
    /// How many dispatches it is of; some have nothing for storage.
    var count = 0
}

extension Session {
    /// The most log entries that one append carries.
    private static var entriesPerAppendMax: Int { 256 }

    /// The most bytes of log entries that one append carries, but for a single larger one.
    private static var bytesPerAppendMax: Int { 1_048_576 }

    /// Publishes what is durable, and hands the next entries to storage when it is free.
    func advance() {
        // While publishing, what is durable still stands among what is pending: the publisher goes on from there itself.
        guard !isPublishing else { return }
        defer { account() }
        publishDurable()
        guard !isStorageBusy, !isRetired else { return }
        submit()
    }

    // MARK: - Storage

    private func submit() {
        guard !pending.isEmpty || !creations.isEmpty else {
            return isStored ? finishDeletionIfDrained() : finishDeletionOfNothing()
        }
        let batch = nextBatch()
        let kept = KeptAnswers(batch.answers, droppingBefore: oldestKept)
        guard let storedHead else {
            return submitCreation(with: batch.entries, keeping: kept, dispatches: batch.count)
        }
        guard !batch.entries.isEmpty || !kept.answers.isEmpty else { return finishDeletionIfDrained() }
        guard !isMigrated, !lacksSnapshot else { return storeWhole(at: storedHead) }
        submitted = batch.count
        isStorageBusy = true
        let confined = Confined(self, to: environment.executor)
        environment.storage.append(key, at: .after(storedHead), batch.entries, keeping: kept) { outcome in
            confined.post { $0.appendDidFinish(outcome, entries: batch.entries) }
        }
    }

    /// What storage has to take of the first pending dispatches, as many as one append may carry.
    ///
    /// A loop by index: slices and key paths of a generic type are made from its metadata at each call, which took a fifth of a dispatch.
    private func nextBatch() -> Batch {
        var batch = Batch()
        var bytes = 0
        let countMax = min(pending.count, Self.entriesPerAppendMax)
        while batch.count < countMax {
            let dispatch = pending[batch.count]
            bytes += (dispatch.entry?.byteCount ?? 0) + (dispatch.kept?.byteCount ?? 0)
            guard batch.count == 0 || bytes <= Self.bytesPerAppendMax else { break }
            if let entry = dispatch.entry { batch.entries.append(entry) }
            if let kept = dispatch.kept { batch.answers.append(kept) }
            batch.count += 1
        }
        return batch
    }

    /// The first event, or an explicit wish, makes storage know the session.
    private func submitCreation(with entries: [LogEntry], keeping kept: KeptAnswers, dispatches: Int) {
        submitted = dispatches
        isStorageBusy = true
        created = entries.first?.time ?? environment.wallClock()
        updated = created
        let confined = Confined(self, to: environment.executor)
        let snapshot = initialSnapshot()
        snapshotBytes = snapshot.state.count
        if entries.isEmpty, kept.answers.isEmpty {
            environment.storage.log.create(key, epoch: creationEpoch ?? epoch, time: created, snapshot: snapshot) {
                outcome in
                confined.post { $0.creationDidFinish(outcome) }
            }
        } else {
            let point = AppendPoint.creating(epoch: creationEpoch ?? epoch, time: created, snapshot: snapshot)
            environment.storage.append(key, at: point, entries, keeping: kept) { outcome in
                confined.post { $0.appendDidFinish(outcome, entries: entries) }
            }
        }
    }

    /// The document of version 0: what a client has asked for, or the default of this build, which a later one need not have any more.
    private func initialSnapshot() -> StateSnapshot {
        let document = initialDocument ?? persistentJSON(of: logged?.state ?? visible)
        return StateSnapshot(version: 0, schema: schema, state: document)
    }

    /// Stores the document in its new shape, at the version that it was migrated from, so that what follows in the log is of one shape with it;
    /// or for the first time.
    private func storeWhole(at head: SessionHead) {
        let snapshot = StateSnapshot(
            version: head.version,
            schema: schema,
            state: persistentJSON(of: logged?.state ?? visible)
        )
        isStorageBusy = true
        let confined = Confined(self, to: environment.executor)
        environment.storage.log.compact(
            key,
            at: head,
            snapshot: snapshot,
            keepingFrom: retained.from,
            keepingSince: .min
        ) { outcome in
            confined.post { $0.wholeDidFinish(outcome, snapshotBytes: snapshot.state.count) }
        }
    }

    private func wholeDidFinish(_ outcome: Result<CompactionOutcome, StorageError>, snapshotBytes bytes: Int) {
        isStorageBusy = false
        switch outcome {
        case .success(.compacted(let head, let retained)):
            storedHead = head
            self.retained = retained
            isMigrated = false
            lacksSnapshot = false
            noteSnapshot(version: head.version, bytes: bytes)
        case .success(.conflict):
            return retire(failing: .storage(.unavailable(detail: "another writer extended the log; try once more")))
        case .failure(let error):
            return storageDidFail(error)
        }
        runQueue()
    }

    private func creationDidFinish(_ outcome: Result<CreateOutcome, StorageError>) {
        isStorageBusy = false
        switch outcome {
        case .success(.created(let head)):
            storedHead = head
            durable = submitted
            adoptCreation()
        case .success(.exists):
            return retire(failing: .storage(.unavailable(detail: "another writer created the session; try once more")))
        case .failure(let error):
            return storageDidFail(error)
        }
        advanceAndContinue()
    }

    private func appendDidFinish(_ outcome: Result<AppendOutcome, StorageError>, entries: [LogEntry]) {
        isStorageBusy = false
        switch outcome {
        case .success(.committed(let head)):
            storedHead = head
            durable = submitted
            adoptCreation()
            updated = entries.last?.time ?? updated
            noteLogged(entries)
        case .success(.conflict):
            return retire(failing: .storage(.unavailable(detail: "another writer extended the log; try once more")))
        case .failure(let error):
            return storageDidFail(error)
        }
        advanceAndContinue()
    }

    /// A snapshot goes before further entries: a session that is never quiet must not put it off for ever.
    private func advanceAndContinue() {
        beginLoadedEffects()
        publishDurable()
        answerCreations()
        compactIfDue()
        runQueue()
    }

    /// Takes back everything that is not durable.
    ///
    /// What was never certain makes the session leave memory.
    private func storageDidFail(_ error: StorageError) {
        environment.logger.error("storage failed", metadata: ["app": "\(key.app)", "error": "\(LogText.of(error))"])
        if case .indeterminate = error { return retire(failing: .storage(error)) }
        let failed = takeAllPending()
        submitted = 0
        durable = 0
        effectsToCome = 0
        ledger.forgetUsage()
        initialDocument = nil
        creationEpoch = nil
        head = visible
        published = nil
        headPosition = visiblePosition
        headSize = visibleSize
        unlogged = visibleUnlogged
        let waiting = creations
        creations = []
        for dispatch in failed { answer(dispatch, .failure(.storage(error))) }
        for reply in waiting { reply(.failure(.storage(error))) }
        runQueue()
    }

    /// The session is what the client asked for at its creation; nobody has seen its history's name before.
    private func adoptCreation() {
        if let creationEpoch { epoch = creationEpoch }
        initialDocument = nil
        creationEpoch = nil
    }

    private func answerCreations() {
        let waiting = creations
        creations = []
        for reply in waiting { reply(.success(info())) }
    }

    // MARK: - Publication

    private func publishDurable() {
        // An answer may bring the client's next request before this returns; it waits for its turn here.
        guard !isPublishing else { return }
        isPublishing = true
        defer { isPublishing = false }
        while let first = pending.first, durable > 0 || (isStored && !first.needsStorage && submitted == 0) {
            dropFirstPending()
            if durable > 0 {
                durable -= 1
                submitted -= 1
            }
            publish(first)
        }
    }

    /// Makes the dispatch visible, hands its changes to the streams, acknowledges it, then runs the effects.
    private func publish(_ dispatch: Pending) {
        let old = published ?? HeldState(head)
        published = pending.isEmpty ? nil : HeldState(dispatch.state)
        positionBefore = visiblePosition
        visiblePosition = dispatch.position
        visibleSize = dispatch.size
        visibleUnlogged = dispatch.unloggedAfter
        if dispatch.entry != nil || visibleUnlogged.isEmpty {
            logged = nil
        } else if logged == nil {
            logged = old
        }
        if !dispatch.changes.isEmpty {
            keep(dispatch.changes)
        }
        // Delivered before it is answered: the answer may bring a subscriber, whose snapshot has the change already. The answer is
        // written at once, and events at the end of the loop's turn, but for those of a single stream: its loop writes them before.
        if dispatch.isVisible { publish(dispatch.changes, from: old.state) }
        if let mismatch = dispatch.mismatch {
            answer(dispatch, .failure(.precondition(mismatch, current: standing)))
        } else {
            answer(dispatch, .success(answer(to: dispatch)))
        }
        if let effects = dispatch.effects { begin(effects, of: dispatch) }
    }

    /// Keeps what became visible for streams that were not there.
    ///
    /// Not the states: one that is held does not settle what the last event left in it.
    private func keep(_ changes: [StateChange]) {
        tail.append(
            VisibleChange(position: visiblePosition, changes: changes, hasUnlogged: !visibleUnlogged.isEmpty)
        )
        index.note(changes, at: visiblePosition)
    }

    /// Tells the sender; the body no longer waits.
    private func answer(_ dispatch: Pending, _ answer: Result<DispatchAnswer, SessionError>) {
        waitingBytes -= dispatch.bodyBytes
        dispatch.reply(answer)
    }

    /// Tells the sender of a dispatch that was not accepted.
    func answer(_ dispatch: QueuedDispatch<Definition>, _ answer: Result<DispatchAnswer, SessionError>) {
        waitingBytes -= dispatch.bodyBytes
        dispatch.reply(answer)
    }

    /// The same before and after it is published: a session that is being created has the epoch of its creation.
    func answer(to dispatch: Pending) -> DispatchAnswer {
        DispatchAnswer(
            version: dispatch.position.version,
            cursor: Cursor(
                epoch: creationEpoch.map { epochs.name(of: $0) } ?? visibleEpoch,
                position: dispatch.position,
                residence: residence,
                hasUnlogged: !dispatch.unloggedAfter.isEmpty
            ),
            isDurable: dispatch.persists && environment.storage.capabilities.survivesPowerLoss,
            changes: dispatch.changes,
            coerced: dispatch.coercions
        )
    }

    /// Where the session stands for everybody.
    private var standing: StateAnswer {
        StateAnswer(cursor: visibleCursor, value: visible.json(at: .root) ?? [])
    }

    // MARK: - Leaving

    package func leaveMemory() {
        isRetired = true
        closeAccount()
        stopEffects()
    }

    /// Gives up this residence: what storage holds is in doubt, or gone.
    func retire(failing error: SessionError, deletedEpoch: String? = nil) {
        guard !isRetired else { return }
        isRetired = true
        closeAccount()
        let failed = takeAllPending()
        let waiting = queue.takeAll()
        let creating = creations
        creations = []
        effectsToCome = 0
        stopEffects()
        let deleting = deletion
        deletion = nil
        let reason: StreamEvent.ByeReason = deletedEpoch == nil ? .draining : .deleted
        endStreams(because: reason)
        // Out of the shard first: an answer may bring the client's next request, which has to find another session.
        onRetire?(self, deletedEpoch)
        for dispatch in failed { answer(dispatch, .failure(error)) }
        for dispatch in waiting { answer(dispatch, .failure(error)) }
        for reply in creating { reply(.failure(error)) }
        deleting?(.failure(error))
    }
}
