import Logging
import RivuletCluster
import RivuletEngine
import RivuletEventLoop
import Synchronization

/// Takes the messages of other nodes and the changes of the membership, and passes them to the parts of the server.
///
/// The membership calls it on the cluster's executor, in order. Any thread may send, and look at the phase.
final class ClusterGateway: ClusterObserver {
    /// The kinds of messages: the first byte of each.
    enum Kinds {
        /// Messages of the relay of streams.
        static let relay: ClosedRange<UInt8> = 1...31
        /// Messages about requests and tickets.
        static let requests: ClosedRange<UInt8> = 32...63
    }

    /// The part that the server takes in its cluster.
    enum Phase: UInt8 {
        /// Another node has the partition, or none.
        case away
        /// The node has the partition, and opens what only its owner opens; requests wait.
        case opening
        case owner
        /// The node takes no part any more.
        case halted
        /// The node was deposed, and its server ends.
        case ended
    }

    /// The calls of the gateway to the server; on the cluster's executor.
    struct Server: Sendable {
        /// Opens what only the owner opens, and then calls `didOpen`; called once.
        let open: @Sendable () -> Void
        /// Ends the server, so that the process can begin again.
        let end: @Sendable () -> Void
        /// Reads collections that another node has changed.
        let follow: @Sendable (_ collections: Set<String>) -> Void
        /// Answers a question of another node about a ticket.
        let answer: @Sendable (_ question: PeerMessage, _ sender: ClusterPeer) -> Void
    }

    fileprivate struct State {
        var loops: [LoopBound<ServerLoop>] = []
        var relay: (any ClusterReceiver)?
        var server: Server?
        var owner: ClusterPeer?
        var nodes: [String: ClusterNodeStatus.State] = [:]
        /// True if the server has begun to open what only the owner opens.
        var hasBegunToOpen = false
        var hasOpened = false
        var head = HeadMark()
    }

    let member: any ClusterMember
    let counts = ClusterCounts()
    private let logger: Logger
    private let state = Mutex(State())
    private let phaseNumber = Atomic<UInt8>(Phase.away.rawValue)
    private let draining = Atomic<Bool>(false)
    /// The numbers of an earlier run of this node are others, so that a late answer to it answers nothing.
    private let lastNumber = Atomic<UInt64>(.random(in: 0..<1 << 48))

    init(_ member: any ClusterMember, logger: Logger) { (self.member, self.logger) = (member, logger) }

    /// Sets the parts of the server; call it once, before `ClusterMember.attach`.
    func attach(_ loops: [LoopBound<ServerLoop>], relay: (any ClusterReceiver)? = nil, server: Server) {
        let standing = member.standing
        state.withLock { state in
            (state.loops, state.relay, state.server) = (loops, relay, server)
            state.take(standing)
        }
    }

    /// The loops of this server in the order of their indices; empty before the start.
    var loops: [LoopBound<ServerLoop>] { state.withLock { $0.loops } }
    private var relay: (any ClusterReceiver)? { state.withLock { $0.relay } }

    // MARK: - Phases

    var phase: Phase { Phase(rawValue: phaseNumber.load(ordering: .acquiring)) ?? .halted }

    /// True if this node may answer requests that need the owner now.
    var isServing: Bool { phase == .owner && member.mayServe }

    /// True if the node leaves its cluster in order.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// The node that has the partition; nil if none is known, or if it is this one.
    var otherOwner: ClusterPeer? {
        let owner = state.withLock { $0.owner }
        return owner?.node == member.node ? nil : owner
    }

    /// True if the cluster has a node of this name that is not gone.
    func hasNode(_ name: String) -> Bool {
        state.withLock { $0.nodes[name].map { $0 != .gone } ?? ($0.owner?.node == name) }
    }

    /// Records that everything is open that only the owner opens.
    func didOpen() {
        state.withLock { state in
            state.hasOpened = true
            if phase == .opening { phaseNumber.store(Phase.owner.rawValue, ordering: .releasing) }
        }
        tellLoops()
    }

    /// Gives the partition up; the reply comes when another node has it, or none is there to take it.
    func drain(reply: @escaping @Sendable () -> Void) {
        draining.store(true, ordering: .relaxed)
        member.drain(reply: reply)
    }

    // MARK: - Reports of the membership

    func standingDidChange(_ standing: ClusterStanding) {
        let before = phase
        let (server, relay, isFirst) = state.withLock { state in
            state.take(standing)
            let phase = state.phase(in: standing.role)
            let isFirst = phase == .opening && !state.hasBegunToOpen
            if isFirst { state.hasBegunToOpen = true }
            phaseNumber.store(phase.rawValue, ordering: .releasing)
            return (state.server, state.relay, isFirst)
        }
        log(standing, before)
        if isFirst { server?.open() }
        if phase == .ended, before != .ended { server?.end() }
        relay?.standingDidChange(standing)
        tellLoops()
    }

    private func log(_ standing: ClusterStanding, _ before: Phase) {
        guard phase != before else { return }
        let facts: Logger.Metadata = ["node": "\(member.node)", "term": "\(standing.term)"]
        switch standing.role {
        case .owner: logger.notice("this node has the partition", metadata: facts)
        case .halted(let reason): logger.critical("this node has halted: \(reason)", metadata: facts)
        case .deposed: logger.warning("another node has taken the partition; the process begins again", metadata: facts)
        case .joining, .standby: logger.notice("this node has given the partition up", metadata: facts)
        }
    }

    func didReceive(_ message: [UInt8], from sender: ClusterPeer) {
        guard let kind = message.first else { return }
        if Kinds.relay.contains(kind) {
            relay?.take(message, from: sender)
        } else if let message = PeerMessage(message) {
            take(message, from: sender)
        }
    }

    private func take(_ message: PeerMessage, from sender: ClusterPeer) {
        let loops = loops
        guard !loops.isEmpty else { return }
        switch message.kind {
        case .request:
            // The parts of one request go to one loop.
            let loop = loops[Int(message.number >> Self.loopBits) % loops.count]
            if !loop.post({ $0.peers?.take(message, from: sender) }) { refuse(message.number, .full, to: sender.node) }
        case .answer, .moved, .full:
            let index = Int(message.number & (1 << Self.loopBits - 1))
            if index < loops.count { loops[index].postReply { $0.forwarder?.take(message, from: sender) } }
        case .ticketAnswer:
            let index = Int(message.number & (1 << Self.loopBits - 1))
            if index < loops.count { loops[index].postReply { $0.tickets?.take(message, from: sender) } }
        case .ticketQuestion, .ticketReturn: state.withLock { $0.server }?.answer(message, sender)
        }
    }

    func mayHaveLostMessages() {
        counts.busLost.add(1, ordering: .relaxed)
        relay?.mayHaveLostMessages()
        for loop in loops { loop.postReply { $0.forwarder?.mayHaveLostMessages() } }
    }

    func didApply(changesOf collections: Set<String>) { state.withLock { $0.server }?.follow(collections) }

    private func tellLoops() {
        for loop in loops { loop.postReply { $0.forwarder?.standingDidChange() } }
    }

    // MARK: - Messages

    /// The low bits of a number, which are the index of the loop that waits for the answer.
    private static let loopBits = 8

    /// Returns the number of an exchange of a loop.
    func makeNumber(loop: Int) -> UInt64 {
        lastNumber.add(1, ordering: .relaxed).newValue << Self.loopBits | UInt64(loop)
    }

    /// Sends a content to another node, in as many messages as it needs.
    func send(_ kind: PeerMessage.Kind, _ number: UInt64, _ content: [UInt8], to node: String) {
        for message in PeerMessage.parts(kind, number, content, bytesMax: member.messageBytesMax) {
            member.send(message, to: node)
        }
    }

    /// Tells a node that its request was not taken.
    func refuse(_ number: UInt64, _ kind: PeerMessage.Kind, to node: String) {
        if kind == .moved { counts.moved.add(1, ordering: .relaxed) }
        send(kind, number, [], to: node)
    }

    // MARK: - Readiness

    /// Looks at how far this node has applied the log; true if it is at most a second behind.
    ///
    /// `now` is in milliseconds of a monotonic clock.
    func hasCaughtUp(_ standing: ClusterStanding, now: UInt64) -> Bool {
        state.withLock { $0.head.look(standing, now: now) }
    }
}

extension ClusterGateway.State {
    fileprivate mutating func take(_ standing: ClusterStanding) {
        owner = standing.owner
        nodes = Dictionary(standing.nodes.map { ($0.name, $0.state) }, uniquingKeysWith: { $1 })
    }

    fileprivate func phase(in role: ClusterStanding.Role) -> ClusterGateway.Phase {
        switch role {
        case .joining, .standby: .away
        case .owner: hasOpened ? .owner : .opening
        case .deposed: .ended
        case .halted: .halted
        }
    }
}

/// The end of the log at an earlier look, and the time of that look.
struct HeadMark {
    /// The longest time for which a ready node may be behind, in milliseconds.
    static let lagMax: UInt64 = 1_000

    private var head: LogPosition?
    private var seen: UInt64 = 0

    /// Returns false if the node has not applied within ``lagMax`` what was the end of the log at an earlier look.
    mutating func look(_ standing: ClusterStanding, now: UInt64) -> Bool {
        if let head, standing.applied < head { return now < seen + Self.lagMax }
        (head, seen) = (standing.head, now)
        return true
    }
}

/// The counts of a node's exchanges with other nodes; any thread may add to them.
final class ClusterCounts: Sendable {
    let forwarded = ForwardOutcome.allCases.map { _ in AtomicCount() }
    let moved = Atomic<Int>(0)
    let busLost = Atomic<Int>(0)
    /// The requests that wait for an owner now.
    let waiting = Atomic<Int>(0)

    func count(_ outcome: ForwardOutcome) { forwarded[outcome.rawValue].value.add(1, ordering: .relaxed) }
}

/// A count in an array.
final class AtomicCount: Sendable {
    let value = Atomic<Int>(0)
}

/// The end of a request that needed another node.
enum ForwardOutcome: Int, MetricLabel {
    /// The other node has answered.
    case answered
    /// No node has taken the request.
    case unavailable
    /// A node has taken the request, and its answer did not come.
    case unknown
    /// The other node, or this one, had no room.
    case full

    static let name = "outcome"
    static let count = allCases.count
}

/// A part of the server that takes messages of other nodes.
///
/// It is called on the cluster's executor, in order.
protocol ClusterReceiver: AnyObject, Sendable {
    /// Takes a message; its first byte is the kind.
    func take(_ message: [UInt8], from sender: ClusterPeer)

    /// The standing has changed.
    func standingDidChange(_ standing: ClusterStanding)

    /// Messages may have been lost.
    func mayHaveLostMessages()
}
