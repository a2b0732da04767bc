import RivuletEngine
import RivuletSessions

/// The log and the replica: reading, checking and applying.
extension NodeCore {
    /// True while nothing but the answer to an append may move the tip.
    private var isAppending: Bool { batcher.isPublishing || claims.phase == .publishing }

    func driveLog(at now: Int64) {
        guard let request = follower.due(at: now) else { return }
        switch request {
        case .position:
            links.replica.position(
                of: .first,
                reply: links.executor.reply(to: self) { $0.didReadPosition($1) }
            )
        case .ends:
            links.log.ends(of: .first) { [weak self] in self?.didReadEnds($0) }
        case .read(let position):
            links.log.read(.first, after: position) { [weak self] in self?.didRead($0) }
        case .base:
            links.log.base(of: .first) { [weak self] in self?.didReadBase($0) }
        }
    }

    private func retryDelay(after failures: Int) -> Int64 {
        random.delay(after: failures, most: options.limits.retryMillisecondsMax)
    }

    /// Takes a failure of the log; another attempt follows, unless the log itself says that none will help.
    private func didFail(_ error: LogError) {
        haltIfHopeless(error)
        status.didFail("\(error)")
        follower.didFail(at: now, delay: retryDelay(after: follower.failures))
        step()
    }

    private func didReadPosition(_ result: Result<ReplicaPosition, StorageError>) {
        switch result {
        case .failure(let error): halt("this node's copy cannot be read: \(error)")
        case .success(let position):
            guard position.cluster.isEmpty || position.cluster == options.cluster else {
                halt(
                    "this node's copy is of the cluster \(position.cluster), and the log is of the cluster "
                        + "\(options.cluster): start the node with an empty folder, or with the log of its cluster"
                )
                break
            }
            follower.begin(at: position, cluster: options.cluster)
            status.applied = position.position
            claims.update(position.ownership, at: now, jitter: 0)
        }
        step()
    }

    private func didReadEnds(_ result: Result<LogEnds, LogError>) {
        switch result {
        case .failure(let error): return didFail(error)
        case .success(let ends):
            status.didWork()
            if let reason = follower.didReadEnds(ends, at: now, delay: retryDelay(after: 2)) { halt(reason) }
        }
        step()
    }

    private func didRead(_ result: Result<[LoggedMessage], LogError>) {
        switch result {
        case .failure(let error): return didFail(error)
        case .success(let messages):
            status.didWork()
            guard !isHalted, role != .deposed else { break }
            do {
                let interval = role == .owner ? options.lease : options.limits.readMilliseconds
                switch try follower.didRead(messages, mayTake: !isAppending, at: now, interval: interval) {
                case .end: batcher.readNothing(at: now, delay: retryDelay(after: 0))
                case .frames(let frames):
                    for (frame, byteCount) in frames { try take(frame, byteCount: byteCount) }
                }
            } catch {
                halt(error)
            }
        }
        step()
    }

    func didReceive(_ message: LoggedMessage) {
        guard message.position > follower.tip.position else { return }
        guard !isHalted, role != .deposed, !ending.isStopped else { return }
        do {
            // The answer to the frame under way decides its operations, so nothing is taken before it.
            if let frame = try follower.didReceive(message, mayTake: batcher.isIdle && !isAppending) {
                try take(frame, byteCount: message.bytes.count)
            }
        } catch {
            halt(error)
        }
        step()
    }

    private func halt(_ fault: ChainTip.Fault) {
        switch fault {
        case .gap: follower.read()
        case .broken(let reason): halt(reason)
        }
    }

    /// Takes a frame of the log behind the tip, which may be the frame under way.
    private func take(_ frame: PositionedFrame, byteCount: Int) throws(ChainTip.Fault) {
        var operations: [PendingOperation] = []
        switch batcher.didRead(frame) {
        case .committed(_, let own): operations = own
        case .refused(let refused, let error): refuse(refused, error)
        case .nothing, .read, .broken: break
        }
        try enqueue(frame, byteCount: byteCount, operations)
    }

    /// Gives a frame of the tip to the replica.
    func enqueue(
        _ frame: PositionedFrame,
        byteCount: Int,
        _ operations: [PendingOperation]
    ) throws(ChainTip.Fault) {
        bases.didAccept(byteCount: byteCount)
        var operations = operations
        if surroundings.fault == .answersBeforeApply {
            for pending in operations { pending.reply(.success(.none)) }
            operations = []
        }
        try follower.enqueue(frame, byteCount: byteCount, operations)
        claims.update(follower.tip.ownership, at: now, jitter: random.below(options.lease / 8))
    }

    func driveReplica() {
        guard let step = follower.applies.next() else { return }
        switch step {
        case .verify(let outcomes):
            links.replica.position(
                of: .first,
                reply: links.executor.reply(to: self) { $0.didVerify($1, outcomes) }
            )
        case .apply(let frames):
            links.replica.apply(
                frames,
                of: .first,
                reply: links.executor.reply(to: self) { $0.didApply($1) }
            )
        }
    }

    private func didVerify(_ result: Result<ReplicaPosition, StorageError>, _ outcomes: UInt64) {
        guard !isHalted else { return }
        switch result {
        case .failure(let error): halt("this node's copy cannot be read: \(error)")
        case .success(let position):
            if position.outcomes == outcomes {
                follower.applies.didVerify()
            } else {
                halt(
                    "this node's copy differs from the log's checkpoint behind \(position.position.rawValue): stop it, "
                        + "delete its folder, start it again"
                )
            }
        }
        step()
    }

    private func didApply(_ result: Result<[OperationOutcome], StorageError>) {
        guard !isHalted else { return }
        switch result {
        case .failure(let error):
            halt("this node's copy takes no writes: \(error): make the cause good, then start the node again")
        case .success(let outcomes):
            let items = follower.applies.didApply()
            if let last = items.last { status.applied = last.frame.position }
            answer(items, outcomes)
        }
        step()
    }

    private func answer(_ items: [ApplyQueue.Item], _ outcomes: [OperationOutcome]) {
        var end = 0
        var collections: Set<String> = []
        for item in items {
            end += item.frame.frame.operations.count
            // The node's own operations, which have no reply, are the first ones of a frame.
            let begin = end - item.operations.count
            for (pending, outcome) in zip(item.operations, outcomes[begin..<end]) { pending.reply(.success(outcome)) }
            guard item.operations.isEmpty else { continue }
            for case .items(let collection, _, _, _) in item.frame.frame.operations { collections.insert(collection) }
        }
        if !collections.isEmpty { observer?.didApply(changesOf: collections) }
    }

    func refuse(_ operations: [PendingOperation], _ error: StorageError) {
        for pending in operations { pending.reply(.failure(error)) }
    }
}
