import RivuletEngine
import RivuletSessions

/// The lease, the claim, and the frames of the owner.
extension NodeCore {
    func driveLease(at now: Int64) {
        guard let action = lease.due(at: now) else { return }
        let name = NodeRecord.name(of: options.node)
        switch action {
        case .read:
            links.records.record(name) { [weak self] in
                guard let self else { return }
                if case .failure(let error) = $0 { haltIfHopeless(error) }
                lease.didRead($0, at: self.now)
                step()
            }
        case .put(let value, let revision):
            links.records.put(value, as: name, after: revision) { [weak self] in
                guard let self else { return }
                if case .refused(let error) = $0 { haltIfHopeless(error) }
                lease.didPut($0, at: self.now)
                step()
            }
        }
    }

    /// Halts for an error that no later attempt can do without.
    func haltIfHopeless(_ error: LogError) {
        switch error {
        case .incompatible(let detail), .lost(let detail): halt(detail)
        case .unavailable, .full, .tooLarge: break
        }
    }

    func driveRole(at now: Int64) {
        switch lease.loss {
        case .replaced(let other):
            // A lock on the folder keeps a second run away, so the other one has another folder.
            return halt(
                "another node named \(options.node) is running (its run is \(String(other, radix: 16))): "
                    + "give each node its own --node name"
            )
        case .fenced: retire(at: now)
        case nil: break
        }
        switch role {
        case .joining where follower.isCaughtUp && lease.isTaken:
            become(.standby)
        case .standby where isClaimed && follower.applies.isEmpty && follower.isCaughtUp && lease.loss == nil:
            become(.owner)
        case .owner where !isClaimed:
            // The release of this run makes it a standby; a claim of another one ends its part.
            let claim = follower.tip.ownership.claim
            if claim?.node == options.node, claim?.incarnation == options.incarnation {
                become(.standby)
            } else {
                retire(at: now)
            }
        default: break
        }
    }

    private func become(_ role: ClusterStanding.Role) {
        self.role = role
        let term = follower.tip.link.term
        switch role {
        case .owner: status.note("is the owner, term \(term)")
        case .standby: status.note("is a standby, term \(term)")
        default: break
        }
    }

    /// Ends the part of a node that lost its record or the partition, as soon as its last frame is decided.
    private func retire(at now: Int64) {
        report.set(deadline: .min, isOpen: false)
        refuse(batcher.isWithinOperation ? [] : batcher.dropQueue(), Self.notOwner)
        ending.retire(until: now + options.lease)
        guard batcher.isIdle && follower.applies.isEmpty || ending.isRetired(at: now) else { return }
        refuseAll()
        role = .deposed
        status.note("has lost the partition or its record, and has to start again")
    }

    func driveClaims(at now: Int64) {
        claims.wake = nil
        guard role == .standby, lease.loss == nil else { return }
        if let reading = claims.watch.due(at: now) {
            let interval = min(options.limits.watchMilliseconds, options.lease / 4)
            links.records.record(NodeRecord.name(of: reading.node)) { [weak self] in
                guard let self else { return }
                claims.watch.didRead($0, reading, at: self.now, interval: interval)
                step()
            }
        }
        switch claims.phase {
        case .idle: beginClaim(at: now)
        case .confirming(let read, let fence):
            guard follower.endRead > read, follower.isCaughtUp else { break }
            guard let fence, surroundings.fault != .writesNoFence else { return publishClaim() }
            claims.fencing(fence)
            write(fence)
        case .catchingUp(let read):
            if follower.endRead > read, follower.isCaughtUp { publishClaim() }
        case .fencing, .publishing: break
        }
    }

    private func beginClaim(at now: Int64) {
        guard !ending.isDraining, follower.isCaughtUp, lease.isHeld(at: now) else { return }
        switch claims.decision(rank: peers.rank(at: now), at: now) {
        case .never: break
        case .wait(let time): claims.wake = time
        case .claim(let fence):
            // Two nodes of an empty cluster have to know each other, or both would claim at once.
            guard peers.isKnown else { break }
            claims.begin(fence, afterRead: follower.reads)
            follower.verify()
            driveLog(at: now)
        }
    }

    private func write(_ fence: ClaimMachine.Fence) {
        var record = fence.record
        record.state = .fenced
        let name = NodeRecord.name(of: fence.node)
        links.records.put(record.bytes, as: name, after: fence.revision) { [weak self] outcome in
            guard let self else { return }
            if claims.phase == .fencing(fence) {
                if case .stored = outcome {
                    status.note("has ended the lease of \(fence.node)")
                    claims.catchUp(afterRead: follower.reads)
                    follower.verify()
                } else {
                    endClaim()
                }
            }
            step()
        }
    }

    private func endClaim() {
        claims.end(at: now, delay: options.lease / 20 + random.below(options.lease / 8))
        follower.read()
    }

    private func publishClaim() {
        guard !ending.isDraining, lease.isHeld(at: now) else { return endClaim() }
        let tip = follower.tip
        let frame = Frame(
            cluster: options.cluster,
            partition: .first,
            previous: tip.link,
            term: tip.link.term + 1,
            nonce: random.next(),
            operations: [.claim(options.claim)]
        )
        let bytes = surroundings.coder.encode(frame)
        claims.publishing()
        links.log.append(bytes, to: .first, after: tip.position) { [weak self] in self?.didClaim($0, frame, bytes) }
    }

    private func didClaim(_ outcome: LogAppendOutcome, _ frame: Frame, _ bytes: [UInt8]) {
        guard claims.phase == .publishing else { return }
        endClaim()
        switch outcome {
        case .committed(let position):
            commit(
                PositionedFrame(position: position, frame: frame, hash: surroundings.coder.hash(bytes)),
                byteCount: bytes.count,
                []
            )
        case .moved(let last) where last < follower.tip.position: halt(follower.endsBefore(last))
        case .refused(let error):
            status.didFail("\(error)")
            haltIfHopeless(error)
        // A claim that was written nevertheless is found by reading.
        case .moved, .unknown: break
        }
        step()
    }

    private func commit(_ frame: PositionedFrame, byteCount: Int, _ operations: [PendingOperation]) {
        follower.advance(to: frame)
        do {
            try enqueue(frame, byteCount: byteCount, operations)
        } catch {
            halt("this node has written a frame that it cannot read: \(error)")
        }
    }

    // MARK: - The owner's frames

    func submit(_ pending: PendingOperation) {
        guard isOpen else { return pending.reply(.failure(Self.notOwner)) }
        if let refusal = batcher.refusal { return pending.reply(.failure(refusal)) }
        batcher.enqueue(pending)
        step()
    }

    func driveBatcher(at now: Int64) {
        guard role == .owner || !batcher.isIdle else { return }
        refuse(
            batcher.expire(before: now - options.lease),
            .unavailable(detail: "the cluster's log has not answered: try again later")
        )
        if let message = batcher.retry(nonce: random.next(), surroundings.coder, at: now) { return append(message) }
        guard
            batcher.isIdle, isClaimed, lease.loss == nil, follower.isCaughtUp, !follower.applies.isFull,
            claims.phase != .publishing
        else { return }
        guard let own = ownOperations() else { return }
        let nonce = random.next()
        if let message = batcher.begin(after: follower.tip, first: own, nonce: nonce, surroundings.coder, at: now) {
            append(message)
        }
    }

    /// The node's own operations for the next frame; nil if the frame has to wait for them.
    private func ownOperations() -> [Operation]? {
        guard !batcher.isWithinOperation else { return [] }
        if ending.isDraining {
            return batcher.hasWork ? [] : [.release(to: peers.live(at: now).first ?? "")]
        }
        let frames = follower.tip.link.number - follower.tip.checkpoint
        guard frames >= options.limits.checkpointFrames else { return [] }
        switch checkpoint {
        case .known(let outcomes):
            checkpoint = .none
            return [.checkpoint(outcomes: outcomes)]
        case .asked: break
        case .none:
            guard follower.applies.isEmpty else { break }
            checkpoint = .asked
            links.replica.position(of: .first, reply: links.executor.reply(to: self) { $0.didAskOutcomes($1) })
        }
        return nil
    }

    private func didAskOutcomes(_ result: Result<ReplicaPosition, StorageError>) {
        switch result {
        // Nothing is published in the meantime, and parts of an operation behind the position have no outcomes.
        case .success(let position): checkpoint = .known(outcomes: position.outcomes)
        case .failure(let error): halt("this node's copy cannot be read: \(error)")
        }
        step()
    }

    private func append(_ message: (bytes: [UInt8], after: LogPosition)) {
        let attempt = batcher.attempt
        links.log.append(message.bytes, to: .first, after: message.after) { [weak self] in
            self?.didAppend($0, attempt: attempt, byteCount: message.bytes.count)
        }
    }

    private func didAppend(_ outcome: LogAppendOutcome, attempt: Int, byteCount: Int) {
        let now = now
        let delay = random.delay(after: 0, most: options.limits.retryMillisecondsMax)
        switch batcher.answered(outcome, attempt: attempt, surroundings.coder, at: now, delay: delay) {
        case .nothing: break
        case .committed(let frame, let operations): commit(frame, byteCount: byteCount, operations)
        case .read(let last):
            if last < follower.tip.position {
                halt(follower.endsBefore(last))
            } else {
                follower.read()
            }
        case .refused(let operations, let error): refuse(operations, error)
        case .broken(let reason): halt(reason)
        }
        switch outcome {
        case .committed: status.didWork()
        case .refused(let error): status.didFail("\(error)")
        case .moved, .unknown: break
        }
        step()
    }
}
