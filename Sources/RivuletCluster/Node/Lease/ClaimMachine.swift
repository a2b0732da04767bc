/// The way of a standby to the partition: seeing that the owner has no right, the fence, and the claim.
struct ClaimMachine {
    /// The record to write over, so that its run never renews.
    struct Fence: Hashable {
        let node: String
        let record: NodeRecord
        let revision: UInt64
    }

    enum Phase: Hashable {
        case idle
        /// The log is read to its end, to learn if this node still has to claim.
        case confirming(afterRead: Int, Fence?)
        case fencing(Fence)
        /// The log is read to its end behind the fence.
        case catchingUp(afterRead: Int)
        case publishing
    }

    enum Decision: Hashable {
        /// Nothing is to be done before this time.
        case wait(until: Int64)
        case claim(Fence?)
        /// Nothing is to be done before the ownership changes.
        case never
    }

    private let own: Claim
    private let lease: Int64
    /// The time that keeps two nodes from claiming at once, for each place in their order.
    private var step: Int64 { lease / 20 }
    var watch = OwnerWatch()
    private(set) var phase = Phase.idle
    private(set) var ownership = PartitionOwnership.none
    /// True if the partition is this run's at the end of the log.
    private(set) var isOwner = false
    private var since = Int64.min
    private var notBefore = Int64.min
    /// The time at which a claim may be due; nil while nothing but an answer can make it due.
    var wake: Int64?
    private let watchesWithoutMargin: Bool

    init(_ options: ClusterNodeOptions, _ fault: NodeFault?) {
        (own, lease) = (options.claim, options.lease)
        watchesWithoutMargin = fault == .watchesWithoutMargin
    }

    private func isOwn(_ claim: Claim?) -> Bool {
        claim?.incarnation == own.incarnation && claim?.node == own.node
    }

    /// Takes the ownership at the end of the log; a claim under way ends if it has changed.
    mutating func update(_ ownership: PartitionOwnership, at now: Int64, jitter: Int64) {
        guard ownership != self.ownership || since == .min else { return }
        if phase != .idle { notBefore = now + step + jitter }
        (self.ownership, since, phase) = (ownership, now, .idle)
        isOwner = ownership.release == nil && isOwn(ownership.claim)
        let isWatched = ownership.release == nil && ownership.claim?.node != own.node
        watch.watch(isWatched ? ownership.claim : nil)
    }

    /// True if a newer build of the apps has had the partition; this build may not read its documents.
    var isOutdated: Bool {
        (ownership.claim?.schemas ?? [:]).contains { app, version in own.schemas[app].map { $0 < version } ?? false }
    }

    func decision(rank: Int, at now: Int64) -> Decision {
        guard !isOutdated else { return .never }
        let turn = Int64(rank) * step
        if let claim = ownership.claim, ownership.release == nil, claim.node != own.node {
            return watching(claim, turn: turn, at: now)
        }
        guard let claim = ownership.claim else { return due(since + turn, at: now) }
        guard let to = ownership.release else {
            // The folder's lock proves that the earlier run of this node has ended.
            return isOwn(claim) ? .never : due(since, at: now)
        }
        if to == own.node { return due(since, at: now) }
        return due(since + (to.isEmpty ? 0 : 4 * step) + turn, at: now)
    }

    private func watching(_ claim: Claim, turn: Int64, at now: Int64) -> Decision {
        switch watch.sight {
        case .unknown: return .wait(until: .max)
        case .record(let record, let revision, let since, let sameSince):
            // Another run has taken the record, so the owner is over. That run has the first turn.
            guard record.incarnation == claim.incarnation else { return due(sameSince + lease / 2 + turn, at: now) }
            switch record.state {
            case .gone: return due(sameSince + turn, at: now)
            // The node that wrote the fence has the first turn.
            case .fenced: return due(sameSince + 3 * step + turn, at: now)
            case .live, .draining:
                let time = watchesWithoutMargin ? record.lease : NodeTimes.watch(of: record.lease)
                return due(since + time, at: now, Fence(node: claim.node, record: record, revision: revision))
            }
        case .missing(let revision, let since):
            guard revision == 0 else { return .never }
            // The length of the lease is unknown, so it is the longest one.
            return due(since + NodeTimes.watch(of: NodeTimes.leaseMax), at: now)
        }
    }

    private func due(_ time: Int64, at now: Int64, _ fence: Fence? = nil) -> Decision {
        let time = max(time, notBefore)
        return now >= time ? .claim(fence) : .wait(until: time)
    }

    mutating func begin(_ fence: Fence?, afterRead read: Int) { phase = .confirming(afterRead: read, fence) }

    mutating func fencing(_ fence: Fence) { phase = .fencing(fence) }

    mutating func catchUp(afterRead read: Int) { phase = .catchingUp(afterRead: read) }

    mutating func publishing() { phase = .publishing }

    /// Ends the attempt; the next one begins after the delay at the earliest.
    mutating func end(at now: Int64, delay: Int64) {
        phase = .idle
        notBefore = now + delay
        watch.read(at: .min)
    }
}
