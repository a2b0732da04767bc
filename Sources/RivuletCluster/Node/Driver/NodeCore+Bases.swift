import RivuletEngine
import RivuletSessions

/// Bases: a copy of the content in the log's storage, from which a node begins, and the cut of the log below it.
extension NodeCore {
    func didReadBase(_ result: Result<PartitionBase?, LogError>) {
        guard !isHalted else { return }
        switch result {
        case .failure(let error):
            status.didFail("\(error)")
            follower.didFail(
                at: now,
                delay: random.delay(after: follower.failures, most: options.limits.retryMillisecondsMax)
            )
        case .success(let base):
            if let reason = follower.didReadBase(base?.position) {
                halt(reason)
            } else if let base {
                load(base)
            }
        }
        step()
    }

    private func load(_ base: PartitionBase) {
        let export: ReplicaExport
        do {
            export = try ReplicaExport(base, of: .first)
        } catch {
            return halt("the base at \(base.position.rawValue) cannot be read: \(error)")
        }
        guard export.position.cluster == options.cluster else {
            return halt(
                "the base is of the cluster \(export.position.cluster), and this node is of the cluster "
                    + "\(options.cluster): give each cluster its own NATS account, or its own streams"
            )
        }
        // The message that would decide the frame under way was cut.
        abandonFrame()
        status.note("loads the base at \(base.position.rawValue)")
        links.replica.load(
            export,
            of: .first,
            reply: links.executor.reply(to: self) { $0.didLoad($1, export, base.frames.reduce(0) { $0 + $1.count }) }
        )
    }

    private func didLoad(_ result: Result<Void, StorageError>, _ export: ReplicaExport, _ byteCount: Int) {
        guard !isHalted else { return }
        switch result {
        case .failure(let error): halt("this node's copy does not take the base: \(error)")
        case .success:
            follower.begin(at: export.position, cluster: options.cluster)
            status.applied = export.position.position
            bases.adopt(BaseRecord(position: export.position.position, byteCount: byteCount))
            claims.update(follower.tip.ownership, at: now, jitter: random.below(options.lease / 8))
            var collections: Set<String> = []
            for case .items(let collection, _) in export.operations.joined() { collections.insert(collection) }
            if !collections.isEmpty { observer?.didApply(changesOf: collections) }
        }
        step()
    }

    /// Stores a base when it is due: the first live node that is not the owner does it.
    func driveBases(at now: Int64) {
        guard bases.isDue(at: now), follower.isCaughtUp, peers.isKnown, !ending.isDraining else { return }
        let owner = follower.tip.ownership.claim?.node
        let standbys = peers.live(at: now).filter { $0 != owner }
        switch role {
        case .standby where standbys.allSatisfy({ $0 > options.node }): break
        case .owner where standbys.isEmpty: break
        default: return
        }
        bases.go(to: .looking)
        links.records.record(BaseRecord.name(of: .first)) { [weak self] in self?.didLook($0) }
    }

    private func didFailBase(_ detail: String) {
        bases.didFail(at: now, delay: options.lease)
        status.note("no base was stored: \(detail)")
        step()
    }

    private func didLook(_ result: Result<ClusterRecord?, LogError>) {
        switch result {
        case .failure(let error): return didFailBase("\(error)")
        case .success(let record):
            // A record that cannot be read is written again.
            let base = record.flatMap { try? BaseRecord(bytes: $0.value) }
            guard bases.didLook(base, revision: record?.revision ?? 0) else { break }
            links.replica.export(
                .first,
                frameBytesMax: options.limits.baseFrameBytesMax,
                reply: links.executor.reply(to: self) { $0.didExport($1) }
            )
        }
        step()
    }

    private func didExport(_ result: Result<ReplicaExport, StorageError>) {
        switch result {
        case .failure(let error): return didFailBase("\(error)")
        case .success(let export):
            bases.go(to: .storing)
            let base = PartitionBase(export, of: .first, frameBytesMax: options.limits.baseFrameBytesMax)
            let record = BaseRecord(position: base.position, byteCount: base.frames.reduce(0) { $0 + $1.count })
            links.log.put(base, of: .first) { [weak self] in self?.didStore($0, record) }
        }
        step()
    }

    private func didStore(_ result: Result<Void, LogError>, _ base: BaseRecord) {
        if case .failure(let error) = result { return didFailBase("\(error)") }
        bases.go(to: .recording)
        links.records.put(base.bytes, as: BaseRecord.name(of: .first), after: bases.revision) { [weak self] outcome in
            // The record only saves other nodes the work, so the base counts also without it.
            self?.cut(below: base)
        }
        step()
    }

    private func cut(below base: BaseRecord) {
        bases.go(to: .cutting)
        var place = base.position
        if surroundings.fault == .cutsLastFrame { place = LogPosition(rawValue: place.rawValue + 1) }
        links.log.cut(.first, before: place) { [weak self] result in
            guard let self else { return }
            if case .failure(let error) = result { return didFailBase("\(error)") }
            bases.adopt(base)
            step()
        }
        step()
    }
}
