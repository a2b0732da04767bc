/// The other nodes' records, and the end of this node's part.
extension NodeCore {
    func drivePeers(at now: Int64) {
        guard let action = peers.due(at: now) else { return }
        switch action {
        case .names:
            links.records.names(beginningWith: NodeRecord.namePrefix) { [weak self] in
                self?.peers.didList($0)
                self?.step()
            }
        case .record(let name):
            links.records.record(NodeRecord.name(of: name)) { [weak self] in
                guard let self else { return }
                peers.didRead($0, of: name, at: self.now)
                step()
            }
        }
    }

    func drain(_ reply: @escaping @Sendable () -> Void) {
        ending.drain(until: now + 2 * options.lease, reply)
        lease.set(.draining)
        step()
    }

    func stop(_ reply: @escaping @Sendable () -> Void) {
        ending.stop(until: now + options.lease, reply)
        // The owner gives the partition up before its record says that it is gone.
        if role != .owner { lease.set(.gone) }
        step()
    }

    func driveEnding(at now: Int64) {
        guard ending.isWaiting else { return }
        if hasDrained(at: now) || ending.isOver(at: now) {
            if ending.isStopping { lease.set(.gone) }
            for reply in ending.didDrain() { reply() }
        }
        // Before the drain is over, the stored state is still the one before the end.
        guard ending.isStopping, lease.hasStoredEnd || ending.isOver(at: now) else { return }
        guard role != .owner || ending.isOver(at: now) else { return }
        refuseAll()
        for reply in ending.didStop() { reply() }
    }

    /// True if another node has the partition, or none is there that could take it.
    private func hasDrained(at now: Int64) -> Bool {
        guard role != .owner, claims.phase != .publishing else { return isHalted || role == .deposed }
        let claim = follower.tip.ownership.claim
        guard claim?.node == options.node, claim?.incarnation == options.incarnation else { return true }
        return peers.isKnown && peers.live(at: now).isEmpty
    }
}
