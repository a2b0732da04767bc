import Logging
import RivuletEngine
import RivuletSessions

/// The driver of a node: it gives each machine what has happened, and does what the machines want.
///
/// `step()` lists the machines in order. It runs after each answer, delivery and timer.
final class NodeCore {
    let options: ClusterNodeOptions
    let links: NodeLinks
    let surroundings: ClusterNodeSurroundings
    let report: NodeReport
    let logger: Logger
    var observer: (any ClusterObserver)?

    var role = ClusterStanding.Role.joining
    var lease: LeaseMachine
    var peers: PeerTable
    var follower: LogFollower
    var batcher: Batcher
    var claims: ClaimMachine
    var bases: BaseKeeper
    var random: NodeRandom
    var status: NodeStatus
    var ending = NodeEnding()
    /// The hash over all outcomes at the tip, for the next checkpoint.
    var checkpoint = CheckpointState.none
    private var isStarted = false
    private var armed: Int64?

    enum CheckpointState {
        case none
        case asked
        case known(outcomes: UInt64)
    }

    static let notOwner = StorageError.unavailable(detail: "this node does not have the partition: ask its owner")

    init(
        _ options: ClusterNodeOptions,
        _ links: NodeLinks,
        _ surroundings: ClusterNodeSurroundings,
        _ report: NodeReport,
        _ logger: Logger
    ) {
        (self.options, self.links, self.surroundings) = (options, links, surroundings)
        (self.report, self.logger) = (report, logger)
        lease = LeaseMachine(options)
        peers = PeerTable(own: options.node, interval: options.limits.peersMilliseconds ?? options.lease)
        follower = LogFollower(options, surroundings)
        batcher = Batcher(options.limits, cluster: options.cluster, fault: surroundings.fault)
        claims = ClaimMachine(options, surroundings.fault)
        bases = BaseKeeper(options.limits)
        random = NodeRandom(seed: options.incarnation)
        status = NodeStatus(options, logger)
    }

    func start() {
        guard !isStarted else { return }
        isStarted = true
        links.log.follow(
            .first,
            deliver: { [weak self] in self?.didReceive($0) },
            mayHaveMissed: { [weak self] in
                self?.follower.compare()
                self?.step()
            }
        )
        links.bus.receive(as: options.node) { [weak self] bytes in
            guard let self, let (sender, message) = NodeEnvelope.unwrap(bytes) else { return }
            observer?.didReceive(message, from: sender)
        }
        links.bus.onConnectionChange { [weak self] isConnected in
            guard let self else { return }
            status.isConnected = isConnected
            if isConnected {
                observer?.mayHaveLostMessages()
                follower.compare()
            }
            step()
        }
        step()
    }

    var now: Int64 { surroundings.now() }

    var isHalted: Bool { if case .halted = role { true } else { false } }

    /// True if the partition is this node's at the end of the log.
    var isClaimed: Bool { claims.isOwner }

    /// True if the node takes operations: it is the owner, and does not give the partition up.
    var isOpen: Bool { role == .owner && !ending.isDraining && lease.loss == nil && isClaimed }

    func step() {
        guard isStarted, !ending.isStopped else { return }
        let now = now
        driveLease(at: now)
        if role != .deposed, !isHalted {
            driveLog(at: now)
            driveReplica()
            driveRole(at: now)
            driveClaims(at: now)
            driveBatcher(at: now)
            drivePeers(at: now)
            driveBases(at: now)
        }
        driveEnding(at: now)
        publish(at: now)
        arm(at: now)
    }

    /// Ends the node's part for a reason that names the remedy.
    ///
    /// The first reason stays. Frames under way may be in the log, so their operations are answered as such.
    func halt(_ reason: String) {
        guard !isHalted else { return }
        role = .halted(reason)
        logger.error("\(reason)", metadata: ["node": "\(options.node)"])
        refuseAll()
        lease.set(.gone)
    }

    /// Answers every operation that waits.
    func refuseAll() {
        report.set(deadline: .min, isOpen: false)
        for item in follower.applies.removeAll() {
            for pending in item.operations {
                pending.reply(
                    .failure(.indeterminate(detail: "it is in the cluster's log, but not in this node's copy"))
                )
            }
        }
        abandonFrame()
        for pending in batcher.dropQueue() { pending.reply(.failure(Self.notOwner)) }
    }

    /// Answers the operations of the frame under way; this node will not learn their outcome.
    func abandonFrame() {
        let (operations, mayBeWritten) = batcher.abandon()
        let unknown = StorageError.indeterminate(
            detail: "the node lost the partition before the cluster's log answered"
        )
        refuse(operations, mayBeWritten ? unknown : Self.notOwner)
    }

    /// Publishes the standing, when it has changed, and the right to serve.
    private func publish(at now: Int64) {
        let isOpen = isOpen
        report.set(deadline: isOpen ? lease.deadline : .min, isOpen: isOpen)
        var shown = role
        // The owner is reported as such from its first right to serve on.
        if shown == .owner, status.shown != .owner, !isOpen || !lease.isHeld(at: now) { shown = .standby }
        let nodes = status.nodes(peers, own: lease.storedState, at: now)
        guard status.hasChanged(to: shown, tip: follower.tip, head: follower.head) else { return }
        let ownership = follower.tip.ownership
        let standing = ClusterStanding(
            role: shown,
            owner: ownership.release == nil
                ? ownership.claim.map { ClusterPeer(node: $0.node, incarnation: $0.incarnation) } : nil,
            term: follower.tip.link.term,
            head: follower.head,
            applied: status.applied,
            isConnected: status.isConnected,
            nodes: nodes
        )
        if report.set(standing) { observer?.standingDidChange(standing) }
    }

    /// Asks for a step at the next time at which a machine has something to do.
    private func arm(at now: Int64) {
        var time = min(lease.wake ?? .max, ending.wake ?? .max)
        if role != .deposed, !isHalted {
            time = min(time, follower.wake ?? .max)
            time = min(time, batcher.wake ?? .max)
            time = min(time, peers.wake ?? .max)
            if role == .standby {
                time = min(time, claims.watch.wake ?? .max)
                time = min(time, claims.wake ?? .max)
            }
        }
        guard time < .max else { return }
        if let armed, armed <= time, armed > now { return }
        let wait = max(1, time == .min ? 1 : time - now)
        armed = now + wait
        surroundings.schedule(wait) { [weak self] in
            guard let self else { return }
            if let armed, armed <= self.now { self.armed = nil }
            step()
        }
    }
}
