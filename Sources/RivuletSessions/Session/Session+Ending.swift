/// The ways in which a session ends, one verb each. The shard decides when; each part of the session gives what is needed to come back
/// by `passivated()`, from which the parts of the next incarnation are made, and ends for good by `close()`.
extension Session {
    // MARK: - Evict: no stream, no work

    /// Begins to store a snapshot of a session without work that is about to leave memory, where that is worth a write; false: it is not, or there is work.
    package func compactBeforeLeaving() -> Bool {
        let now = environment.wallClock()
        // A session that was only read keeps its document of an earlier schema.
        guard isQuiet, let head = machine.storedHead, machine.storedForm != .earlierSchema,
            log.isSnapshotWorthLeaving(at: head.version, now: now, limits: environment.logLimits)
        else {
            return false
        }
        storeSnapshot(at: head, now: now)
        return true
    }

    /// Leaves memory: the shard has let go of it, which ends its effects.
    package func evict() {
        assert(isQuiet || machine.isRetired, "a session with work was evicted")
        _ = machine.close()
        closeAccount()
        stopEffects()
    }

    // MARK: - Passivate: streams, no work

    /// Whether it is known, without a look at the state, that something holds it in memory.
    package var isHeld: Bool {
        guard !isIdle else { return false }
        return !isQuiet || streams.hasEnded || !standing.unlogged.isEmpty
            || machine.isKnownUnpassivable
    }

    /// Leaves memory although it is watched, and gives what is needed to come back; nil when something holds it there.
    ///
    /// What holds it is work under way, or what neither storage nor JSON has of the state: omitted fields that differ from their
    /// defaults, and what transient events did to stored ones.
    package func passivate() -> ParkedSession? {
        guard !streams.isEmpty, !isHeld else { return nil }
        guard let transients = transients() else {
            // The state is compared once, not again until it changes.
            machine.didRefusePassivation()
            return nil
        }
        let passivated = ParkedSession(
            machine: machine.passivated(),
            streams: streams.passivated(),
            stateHash: state.hash(of: standing.state),
            transients: transients
        )
        evict()
        return passivated
    }

    /// What storage does not hold of the visible state; nil when that cannot be given back, or is too much.
    private func transients() -> TransientDocument? {
        var snapshot: StateSnapshot?
        if isStored {
            let document = persistentJSON(of: standing.state)
            snapshot = StateSnapshot(version: standing.version, schema: state.schema, state: document)
        }
        guard let document = state.transients(of: standing.state, besides: snapshot, of: key),
            document.bytes <= environment.limits.stateBytesMax
        else { return nil }
        return document
    }

    /// Whether it goes on as this earlier incarnation, with its streams.
    func goesOn(as earlier: ParkedSession) -> Bool { standing.names === earlier.machine.names }

    // MARK: - Delete

    /// Removes state and log once everything accepted before is done, and ends all streams.
    package func delete(reply: @escaping SessionReply<Void>) {
        noteUse()
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

    // MARK: - Retire: storage is in doubt, or has the session no more

    /// Gives up this stay in memory: what storage holds is in doubt, or gone.
    func retire(failing error: SessionError, deletedEpoch: String? = nil) {
        guard !machine.isRetired else { return }
        let failed = machine.close()
        closeAccount()
        stopEffects()
        streams.close(because: deletedEpoch == nil ? .draining : .deleted, standing)
        // Out of the shard first: an answer may bring the client's next request, which has to find another session.
        onRetire?(self, deletedEpoch)
        tell(failed, error)
    }

    // MARK: - Drain: the server stops

    /// Ends effects and takes no more streams; those that there are go on until their loops end them.
    package func drain() {
        stopEffects()
        streams.drain(standing)
    }
}
