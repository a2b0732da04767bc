import Logging
import RivuletCluster
import RivuletEngine
import RivuletEventLoop
import RivuletSessions
import Synchronization

/// Carries streams between this node and the nodes of their sources.
///
/// The membership's executor brings messages and changes of the standing, in order; any loop sends. A message is made
/// and sent under the lock of its side, so that the messages leave in the order of their numbers. The membership must
/// therefore not deliver a message within `send`.
final class StreamRelay: ClusterReceiver {
    private struct Parts {
        var loops: [LoopBound<ServerLoop>] = []
        weak var context: ServerContext?
    }

    private let member: any ClusterMember
    private let logger: Logger
    private let parts = Mutex(Parts())
    private let edge = Mutex(RelayEdge())
    private let owner = Mutex(RelayOwner())
    /// The runs of nodes with a message that could not be read, each of which is logged once.
    private let unreadable = Mutex<Set<ClusterPeer>>([])

    init(_ member: any ClusterMember, logger: Logger) { (self.member, self.logger) = (member, logger) }

    /// Sets the loops, in the order of their indices; call it once, before the membership reports anything.
    func attach(_ loops: [LoopBound<ServerLoop>], _ context: ServerContext) {
        parts.withLock { $0 = Parts(loops: loops, context: context) }
        standingDidChange(member.standing)
    }

    // MARK: - The membership

    func standingDidChange(_ standing: ClusterStanding) {
        if standing.role == .owner {
            edge.withLock { edge in
                leave(edge)
                if edge.lead() { each { $0.move(to: .here) } }
            }
        } else if let owner = standing.owner, owner.node != member.node {
            edge.withLock { edge in
                guard owner != edge.owner else { return }
                leave(edge)
                carryOut(edge.follow(owner), &edge, hasLost: false)
            }
        }
        let gone = standing.nodes.filter { $0.state == .gone }
        guard !gone.isEmpty else { return }
        withOwner { owner in for node in gone { owner.drop(node: node.name) } }
    }

    /// Tells the former owner that the channel has ended, so that it drops the members.
    private func leave(_ edge: borrowing RelayEdge) {
        guard edge.isOpen, let owner = edge.owner else { return }
        member.send(RelayMessage.closed(channel: edge.channel).bytes, to: owner.node)
    }

    func mayHaveLostMessages() {
        // Each side finds by the numbers if it has lost something.
        askForLast()
        withOwner { owner in
            for slot in owner.all { send(owner.last(in: slot)) }
        }
    }

    /// Begins a channel that could not begin before, and asks for the owner's last number; called once a second.
    func tick() {
        edge.withLock { edge in carryOut(edge.tick(), &edge, hasLost: true) }
        askForLast()
        withOwner { $0.tick() }
    }

    private func askForLast() { edge.withLock { edge in send(edge.message(asksForLast: true)) } }

    /// Ends the channels of other nodes' streams, because the server stops.
    func end() {
        withOwner { owner in
            for message in owner.end() { send(message) }
        }
    }

    // MARK: - Receiving

    func take(_ message: [UInt8], from sender: ClusterPeer) {
        let read: RelayMessage
        do throws(RelayError) {
            read = try RelayMessage(message)
        } catch {
            return log(error, of: sender)
        }
        switch read {
        case .requests(let message):
            // A message for an earlier run of this node says nothing about the present one.
            if message.target == member.incarnation { receive(message, from: sender) }
        case .events(let channel, let number, let isLast, let piece):
            edge.withLock { edge in
                let action = edge.receive(channel: channel, number: number, isLast: isLast, piece, from: sender)
                carryOut(action, &edge, hasLost: true)
            }
        case .last(let channel, let number):
            edge.withLock { edge in
                carryOut(edge.check(channel: channel, last: number, from: sender), &edge, hasLost: true)
            }
        case .closed(let channel):
            edge.withLock { edge in carryOut(edge.end(channel: channel, from: sender), &edge, hasLost: true) }
            withOwner { $0.drop(node: sender.node, channel: channel) }
        }
    }

    private func carryOut(_ action: RelayEdge.Action, _ edge: inout RelayEdge, hasLost: Bool) {
        switch action {
        case .nothing: break
        case .begin(let channel):
            if hasLost {
                logger.notice(
                    "streams ask their sources again, because messages were lost",
                    metadata: ["owner": "\(edge.owner?.node ?? "")"]
                )
            }
            send(edge.message())
            each { $0.move(to: .owner(channel: channel), hasLost: hasLost) }
        case .take(let batch): pass(batch, &edge)
        }
    }

    private func pass(_ bytes: [UInt8], _ edge: inout RelayEdge) {
        let (loops, context) = parts.withLock { ($0.loops, $0.context) }
        guard let context else { return }
        let batch: RelayBatch
        do throws(RelayError) {
            batch = try RelayBatch(bytes, account: context.heldBytes)
        } catch {
            if let owner = edge.owner { log(error, of: owner) }
            return carryOut(edge.lose(), &edge, hasLost: true)
        }
        // A batch always has an event of a loop; of a loop that is not there, it has none that could be taken.
        let channel = edge.channel
        let parts = batch.events.filter { loops.indices.contains($0.key) }
        let receipt = RelayReceipt(of: max(parts.count, 1)) { [weak self] in self?.didTake(bytes.count, of: channel) }
        for (index, events) in parts {
            loops[index].postReply { server in
                server.remote?.take(events, of: channel)
                receipt.sign()
            }
        }
    }

    private func log(_ error: RelayError, of sender: ClusterPeer) {
        guard unreadable.withLock({ $0.insert(sender).inserted }) else { return }
        logger.error(
            "messages of another node cannot be read, so streams of the two nodes stay silent",
            metadata: ["node": "\(sender.node)", "error": "\(error.detail)"]
        )
    }

    private func didTake(_ bytes: Int, of channel: UInt64) {
        edge.withLock { edge in
            if edge.take(bytes, of: channel) { send(edge.message()) }
        }
    }

    private func receive(_ message: RelayRequestMessage, from sender: ClusterPeer) {
        withOwner { owner in
            guard case .take(let slot) = owner.receive(message, from: sender) else {
                return member.send(RelayMessage.closed(channel: message.channel).bytes, to: sender.node)
            }
            if message.asksForLast { send(owner.last(in: slot)) }
            pass(message.requests, from: RemoteLoop.index(slot: slot, loop: message.loop))
        }
    }

    /// Passes requests to the loops of their sources.
    private func pass(_ requests: [RelayRequest], from index: Int) {
        let (loops, context) = parts.withLock { ($0.loops, $0.context) }
        guard !requests.isEmpty, let context else { return }
        for (target, requests) in Dictionary(grouping: requests, by: { context.loop(of: $0) }) {
            loops[target].postReply { $0.take(requests, from: index) }
        }
    }

    // MARK: - Sending

    /// Sends requests of a loop's streams, if the channel is still the same.
    ///
    /// A request that is not sent is made again, because the next channel makes all streams ask again.
    func send(_ requests: [RelayRequest], from loop: Int, on channel: UInt64) {
        let requestsMax = max(member.messageBytesMax / Self.requestBytesMax, 1)
        edge.withLock { edge in
            guard edge.channel == channel else { return }
            var rest = requests[...]
            while !rest.isEmpty {
                send(edge.message(loop: loop, Array(rest.prefix(requestsMax))))
                rest = rest.dropFirst(requestsMax)
            }
        }
    }

    /// The approximate most bytes of a request: its paths are those of a request's target.
    private static let requestBytesMax = 16_384

    /// Sends a batch of events to the node in a slot; false if its channel has ended.
    func send(_ batch: [UInt8], to slot: Int) -> Bool {
        let pieceBytesMax = max(member.messageBytesMax - RelayMessage.headBytesMax, 1)
        return withOwner { owner in
            guard let (node, messages) = owner.messages(of: batch, in: slot, pieceBytesMax: pieceBytesMax) else {
                return false
            }
            for message in messages { member.send(message.bytes, to: node) }
            guard case .closed = messages.first else { return true }
            logger.notice("a node does not keep up with the events of its streams", metadata: ["node": "\(node)"])
            return false
        }
    }

    private func send(_ message: (to: String, message: RelayMessage)?) {
        if let message { member.send(message.message.bytes, to: message.to) }
    }

    /// Uses the channels of other nodes, and drops the members of those that have ended.
    private func withOwner<Result: Sendable>(_ body: (inout sending RelayOwner) -> Result) -> Result {
        let (result, dropped) = owner.withLock { owner in (body(&owner), owner.takeDropped()) }
        for slot in dropped {
            for loop in parts.withLock({ $0.loops }) { loop.postReply { $0.dropLoops(ofSlot: slot) } }
        }
        return result
    }

    private func each(_ body: @escaping @Sendable (RemoteSources) -> Void) {
        for loop in parts.withLock({ $0.loops }) {
            loop.postReply { if let remote = $0.remote { body(remote) } }
        }
    }
}

/// Calls a closure when each of some loops has taken its part.
private final class RelayReceipt: Sendable {
    private let left: Atomic<Int>
    private let body: @Sendable () -> Void

    init(of count: Int, _ body: @escaping @Sendable () -> Void) {
        left = Atomic(count)
        self.body = body
    }

    func sign() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { body() }
    }
}

extension ServerContext {
    /// The loop of a request's source.
    fileprivate func loop(of request: RelayRequest) -> Int {
        let source =
            switch request {
            case .ask(_, let topic): RelaySource(topic.source)
            case .leave(let source, _, _): source
            }
        return switch source {
        case .session(let key): shard(of: key)
        case .shared(let shared): loop(of: shared)
        }
    }
}
