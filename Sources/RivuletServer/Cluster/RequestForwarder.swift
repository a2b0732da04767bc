import RivuletCluster
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions
import Synchronization

/// Passes the requests of one loop to the nodes that can answer them, and their answers back.
///
/// A request that needs the owner waits while there is none, and while this node is the owner without a lease. A
/// request that changes nothing is sent again once, if its node is gone or silent. Any other request is sent again only
/// if the node has said that it did not take the request.
final class RequestForwarder {
    /// The time after which a node that was not the owner is asked again, in milliseconds.
    static let movePause: UInt64 = 50
    /// The most requests that a loop has under way here, and the most bytes of them.
    static let (requestsMax, bytesMax) = (16_384, 67_108_864)
    /// The time between two looks at the requests, in milliseconds.
    static let interval: Int64 = 20

    /// A request without an answer.
    private struct Pending {
        let admitted: AdmittedRequest
        let request: HTTPRequest
        let exchange: Exchange
        let destination: ClusterDestination
        let bytes: Int
        var waitsUntil: UInt64
        var sent: Sent?
        var isRepeated = false
        /// The node that has refused the request, and the time after which it is asked again.
        var refusal: (by: ClusterPeer, until: UInt64)?
        var hasMoved = false
        /// The charges of this node's limits; nil until the request is sent.
        var charges: ForwardCharges?

        var isSafe: Bool { request.method.isSafe }
    }

    /// The place to which a request was sent.
    private struct Sent {
        let number: UInt64
        let node: String
        /// The run of the node; nil if any may answer.
        let incarnation: UInt64?
        let time: UInt64
        var deadline: UInt64
    }

    private enum Target {
        case here
        case peer(String, incarnation: UInt64?)
        case none
        /// The request came from another node, and this node is not its owner.
        case moved
        /// The server of this node ends.
        case ended
    }

    private let core: LoopCore
    let gateway: ClusterGateway
    /// The loop of this forwarder, which outlives it.
    private unowned let server: ServerLoop
    private var pending: [UInt64: Pending] = [:]
    /// The keys of the sent requests, by their numbers.
    private var keys: [UInt64: UInt64] = [:]
    private var lastKey: UInt64 = 0
    private var bytes = 0
    private var assembly: MessageAssembly
    private var isWatching = false

    init(_ core: LoopCore, _ gateway: ClusterGateway, _ server: ServerLoop) {
        (self.core, self.gateway, self.server) = (core, gateway, server)
        let options = core.context.options
        assembly = MessageAssembly(bytesMax: options.limits.heldBytesMax / options.workers)
    }

    /// True if no request is under way.
    var isEmpty: Bool { pending.isEmpty }

    private var now: UInt64 { core.loop.nowMilliseconds }
    private var times: ClusterTimes { core.context.options.clusterTimes }

    // MARK: - Requests

    /// Takes a request that this node cannot answer now; false if the node answers it.
    ///
    /// - Throws: 503 if the node has halted, or has no room.
    func takes(_ admitted: AdmittedRequest, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) -> Bool {
        let destination = ClusterDestination(of: admitted.route)
        if destination == .always { return false }
        let phase = gateway.phase
        guard phase != .halted else { throw .nodeHalted }
        switch destination {
        case .always, .here, .node(nil), .node(gateway.member.node): return false
        case .owner where gateway.isServing: return false
        // Another node may have the partition, so that the stores in memory may be outdated.
        case .owner: if phase == .ended || core.isDraining { throw .ending }
        case .node(let name?): guard gateway.hasNode(name) else { throw .streamOfNoNode }
        }
        let count = request.body.count + core.context.httpLimits.headerBytesMax
        guard pending.count < Self.requestsMax, bytes + count <= Self.bytesMax else {
            gateway.counts.count(.full)
            throw Problem(.overloaded("requests for other nodes"))
        }
        lastKey += 1
        bytes += count
        gateway.counts.waiting.add(1, ordering: .relaxed)
        pending[lastKey] = Pending(
            admitted: admitted,
            request: request,
            exchange: exchange,
            destination: destination,
            bytes: count,
            waitsUntil: now + times.waitMax
        )
        advance(lastKey)
        watch()
        return true
    }

    /// Performs or sends a request, if a node can take it now.
    private func advance(_ key: UInt64) {
        guard let entry = pending[key], entry.sent == nil else { return }
        switch target(of: entry) {
        case .none: break
        case .moved:
            guard let entry = remove(key) else { return }
            server.peers?.refuse(entry.exchange.connection, .moved)
        case .ended: fail(key, .ending, .unavailable)
        case .here:
            guard let entry = remove(key) else { return }
            do throws(Problem) {
                try server.performHere(entry.admitted, entry.request, entry.exchange)
            } catch {
                server.send(Response(error), to: entry.exchange)
            }
        case .peer(let node, let incarnation): send(key, entry, to: node, incarnation)
        }
    }

    private func target(of entry: Pending) -> Target {
        if case .node(let name?) = entry.destination { return .peer(name, incarnation: nil) }
        switch gateway.phase {
        case .owner where gateway.member.mayServe: return .here
        case .owner, .opening: return .none
        case .ended: return PeerRequests.isOfPeer(entry.exchange.connection) ? .moved : .ended
        case .away, .halted:
            guard !PeerRequests.isOfPeer(entry.exchange.connection) else { return .moved }
            guard let owner = gateway.otherOwner else { return .none }
            if let refusal = entry.refusal, refusal.by == owner, now < refusal.until { return .none }
            return .peer(owner.node, incarnation: owner.incarnation)
        }
    }

    private func send(_ key: UInt64, _ entry: Pending, to node: String, _ incarnation: UInt64?) {
        var entry = entry
        do throws(Problem) {
            if entry.charges == nil {
                entry.charges = try ForwardCharges(entry.admitted, entry.request, entry.exchange, server)
            }
        } catch {
            _ = remove(key)
            return server.send(Response(error), to: entry.exchange)
        }
        guard let connection = server.connections[entry.exchange.connection] else {
            // The client has gone, and no node has the request.
            _ = remove(key)
            return
        }
        let segments = entry.admitted.route.sessionKey == nil ? [] : entry.request.pathSegments
        let facts = ForwardedFacts(
            address: core.context.doors.clientAddress(of: entry.request, on: connection),
            me: Admission.isOfCaller(segments) ? entry.admitted.route.sessionKey?.id : nil,
            mayCreate: entry.charges?.creationRefusal == nil
        )
        let content = ForwardedRequest(entry.request, facts, trace: connection.request?.trace).content
        let number = gateway.makeNumber(loop: core.index)
        keys[number] = key
        entry.sent = Sent(
            number: number,
            node: node,
            incarnation: incarnation,
            time: now,
            deadline: now + times.answerMax
        )
        pending[key] = entry
        gateway.counts.waiting.subtract(1, ordering: .relaxed)
        gateway.send(.request, number, content, to: node)
    }

    private func remove(_ key: UInt64) -> Pending? {
        guard let entry = pending.removeValue(forKey: key) else { return nil }
        bytes -= entry.bytes
        if let sent = entry.sent {
            keys[sent.number] = nil
        } else {
            gateway.counts.waiting.subtract(1, ordering: .relaxed)
        }
        return entry
    }

    // MARK: - Answers

    /// Takes a message about a request of this loop.
    func take(_ message: PeerMessage, from sender: ClusterPeer) {
        guard let key = keys[message.number], let sent = pending[key]?.sent, sent.node == sender.node,
            sent.incarnation ?? sender.incarnation == sender.incarnation
        else { return }
        switch message.kind {
        case .moved: didMove(key, sender)
        case .full: fail(key, Problem(.overloaded("requests of other nodes")), .full)
        default:
            switch assembly.add(message, from: sender, now: now) {
            case .incomplete: break
            case .complete(let content): didAnswer(key, content)
            case .full: fail(key, Problem(.overloaded("answers of other nodes (heldBytesMax)")), .full)
            case .lost: didLose(key)
            }
        }
    }

    private func didAnswer(_ key: UInt64, _ content: [UInt8]) {
        let answer: ForwardedAnswer
        do throws(MalformedMessageError) {
            answer = try ForwardedAnswer(content)
        } catch {
            return giveUp(key)
        }
        guard let entry = remove(key) else { return }
        gateway.counts.count(.answered)
        if !answer.flags.contains(.created) { entry.charges?.giveBackCreation() }
        if answer.flags.contains(.problem), let limiter = core.limiter,
            let charge = server.connections[entry.exchange.connection]?.request?.bodyCharge
        {
            limiter.giveBack(charge)
        }
        if answer.flags.contains(.creationRefused), let refusal = entry.charges?.creationRefusal {
            return server.send(Response(refusal), to: entry.exchange)
        }
        server.send(answer.response, to: entry.exchange)
    }

    /// Lets a request wait for its owner again; another owner gets it at once.
    private func didMove(_ key: UInt64, _ sender: ClusterPeer) {
        guard var entry = pending[key], let sent = entry.sent else { return }
        guard case .owner = entry.destination else { return fail(key, .ownerUnavailable, .unavailable) }
        if !entry.hasMoved { (entry.hasMoved, entry.waitsUntil) = (true, now + times.waitMax) }
        entry.refusal = (sender, now + Self.movePause)
        keys[sent.number] = nil
        entry.sent = nil
        pending[key] = entry
        gateway.counts.waiting.add(1, ordering: .relaxed)
        advance(key)
        watch()
    }

    private func fail(_ key: UInt64, _ problem: Problem, _ outcome: ForwardOutcome) {
        guard let entry = remove(key) else { return }
        gateway.counts.count(outcome)
        entry.charges?.giveBackCreation()
        server.send(Response(problem), to: entry.exchange)
    }

    /// Ends a request after the loss of a part of its answer, or repeats it.
    private func didLose(_ key: UInt64) {
        guard let entry = pending[key] else { return }
        if entry.isSafe, !entry.isRepeated { `repeat`(key) } else { giveUp(key) }
    }

    /// Ends a request to a node that is gone or silent.
    private func giveUp(_ key: UInt64) {
        guard let entry = pending[key] else { return }
        if entry.sent == nil || entry.isSafe {
            fail(key, .ownerUnavailable, .unavailable)
        } else {
            fail(key, .outcomeUnknown, .unknown)
        }
    }

    // MARK: - Changes

    /// Sends the waiting requests to a new owner, and ends those that an earlier owner does not answer.
    func standingDidChange() {
        guard !pending.isEmpty else { return }
        let owner = gateway.otherOwner
        for key in pending.keys.sorted() {
            guard let entry = pending[key] else { continue }
            guard let sent = entry.sent else {
                advance(key)
                continue
            }
            guard case .owner = entry.destination,
                owner?.node != sent.node || owner?.incarnation != sent.incarnation
            else { continue }
            doubt(key, entry, sent)
        }
    }

    /// Doubts the answers that are under way.
    func mayHaveLostMessages() {
        for key in pending.keys.sorted() {
            if let entry = pending[key], let sent = entry.sent { doubt(key, entry, sent) }
        }
    }

    /// Repeats a request that changes nothing, and shortens the wait of any other.
    private func doubt(_ key: UInt64, _ entry: Pending, _ sent: Sent) {
        if entry.isSafe, !entry.isRepeated {
            `repeat`(key)
        } else {
            pending[key]?.sent?.deadline = min(sent.deadline, now + times.graceMax)
        }
    }

    private func `repeat`(_ key: UInt64) {
        guard var entry = pending[key], let sent = entry.sent else { return }
        keys[sent.number] = nil
        (entry.sent, entry.isRepeated, entry.waitsUntil) = (nil, true, now + times.waitMax)
        pending[key] = entry
        gateway.counts.waiting.add(1, ordering: .relaxed)
        advance(key)
    }

    // MARK: - Times

    private func watch() {
        guard !isWatching, !pending.isEmpty else { return }
        isWatching = true
        core.loop.schedule(after: .milliseconds(Self.interval)) { [weak self] in self?.look() }
    }

    private func look() {
        isWatching = false
        let now = now
        assembly.dropLate(now)
        for key in pending.keys.sorted() {
            guard let entry = pending[key] else { continue }
            if let sent = entry.sent {
                if now >= sent.deadline {
                    giveUp(key)
                } else if entry.isSafe, !entry.isRepeated, now >= sent.time + times.silenceMax {
                    `repeat`(key)
                }
            } else if now >= entry.waitsUntil {
                giveUp(key)
            } else {
                advance(key)
            }
        }
        watch()
    }
}

extension Problem {
    /// 503: the server of this node ends.
    fileprivate static var ending: Problem { Problem(SessionError.draining) }

    /// 404: the node of a stream is gone, and the stream with it.
    fileprivate static var streamOfNoNode: Problem {
        Problem(.streamNotFound, "there is no such stream; the node that had it is gone")
    }
}
