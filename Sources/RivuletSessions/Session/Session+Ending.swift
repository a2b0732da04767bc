/// The ways in which a session ends: evict, passivate, delete, retire and drain.
///
/// The shard evicts and passivates sessions. In a passivation, the machine and the streams return their data from
/// `passivated()`. The parts of the session are made from that data when the session is loaded again. The method
/// `close()` ends a part for good.
extension Session {
    // MARK: - Evict: no stream, no work

    /// Begins to store a snapshot of a session that is about to leave memory, if the snapshot is worth a write.
    ///
    /// - Returns: False if this call stores no snapshot.
    package func compactBeforeLeaving() -> Bool {
        let now = environment.wallClock()
        // If the stored document has an earlier schema, the session was only read. Its document stays unchanged.
        guard isQuiet, let head = machine.storedHead, machine.storedForm != .earlierSchema,
            log.isSnapshotWorthLeaving(at: head.version, now: now, limits: environment.logLimits)
        else {
            return false
        }
        storeSnapshot(at: head, now: now)
        return true
    }

    /// Takes the session out of memory and stops its effects; the shard drops its own reference.
    package func evict() {
        assert(isQuiet || machine.isRetired, "a session with work was evicted")
        _ = machine.close()
        closeAccount()
        stopEffects()
    }

    // MARK: - Passivate: streams, no work

    /// True if something holds the session in memory, as far as this is known without reading the state.
    package var isHeld: Bool {
        guard !isIdle else { return false }
        return !isQuiet || streams.hasEnded || !standing.unlogged.isEmpty
            || machine.isKnownUnpassivable
    }

    /// Takes a watched session out of memory, and returns the data to resume it; nil if something holds it in memory.
    ///
    /// Work under way holds the session. So do values that the next load could not restore: omitted fields that differ
    /// from their defaults, and changes of stored fields by transient events. For a large state, a work thread finds
    /// the values that storage does not have. This call then returns nil, and a later one can succeed.
    package func passivate() -> PassivatedSession? {
        guard !streams.isEmpty, !isHeld else { return nil }
        let cursor = standing.cursor
        if remains?.cursor != cursor { findRemains(at: cursor) }
        guard let found = remains, found.cursor == cursor else { return nil }
        remains = nil
        guard let kept = found.remains, kept.transients.bytes <= environment.limits.stateBytesMax else {
            // The state is compared once, not again until it changes.
            machine.didRefusePassivation()
            return nil
        }
        let passivated = PassivatedSession(
            machine: machine.passivated(),
            streams: streams.passivated(),
            stateHash: kept.hash,
            transients: kept.transients
        )
        evict()
        return passivated
    }

    /// Finds the values of the visible state that storage does not have.
    private func findRemains(at cursor: Cursor) {
        let version = isStored ? standing.version : nil
        let job = state.remaining(of: standing.state, storedAt: version, of: key)
        work(bytes: machine.headSize.bytes, job) { session, remains in
            session.remains = (cursor, remains)
        }
        guard remains == nil else { return }
        // The result is dropped later, because a session that is used again does not need it. Idle sessions are asked
        // to leave at each tenth of the idle time.
        environment.schedule(environment.limits.idleTimeMax / 4) { [weak self] in
            if self?.remains?.cursor == cursor { self?.remains = nil }
        }
    }

    /// True if the session continues this earlier incarnation, with its streams.
    func goesOn(as earlier: PassivatedSession) -> Bool { standing.names === earlier.machine.names }

    // MARK: - Delete

    /// Deletes the session from storage once all earlier work is done, and ends all streams.
    package func delete(reply: @escaping SessionReply<Void>) {
        recordUse()
        do throws(SessionError) {
            try machine.delete(reply)
        } catch {
            return reply(.failure(error))
        }
        drive()
    }

    func deletionDidFinish(_ outcome: Result<Bool, StorageError>) {
        let reply = machine.didDelete()
        switch outcome {
        case .success:
            retire(failing: .notFound(key), deletedEpoch: standing.visibleEpoch)
            reply?(.success(()))
        case .failure(let error):
            if case .indeterminate = error { retire(failing: .storage(error)) }
            reply?(.failure(.storage(error)))
            drive()
        }
    }

    // MARK: - Retire: storage is in doubt, or the session was deleted

    /// Ends this incarnation, because the content of storage is in doubt or the session was deleted.
    func retire(failing error: SessionError, deletedEpoch: String? = nil) {
        guard !machine.isRetired else { return }
        if deletedEpoch != nil { recordDeletion() }
        let failed = machine.close()
        closeAccount()
        stopEffects()
        streams.close(because: deletedEpoch == nil ? .draining : .deleted, standing)
        // The session leaves the shard before the answers: an answer may bring the client's next request, which must
        // not find this session.
        onRetire?(self, deletedEpoch)
        tell(failed, error)
    }

    // MARK: - Drain: the server stops

    /// Stops all effects and accepts no more streams; open streams continue until their event loops end them.
    package func drain() {
        stopEffects()
        streams.drain(standing)
    }
}
