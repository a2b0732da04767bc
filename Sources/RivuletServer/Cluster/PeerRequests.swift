import Logging
import RivuletCluster
import RivuletEventLoop
import RivuletHTTP

/// The requests of other nodes that one loop performs.
///
/// Each of them has a connection without a transport. It passes the admission again, with the facts of the node that
/// took it. Its answer goes back as a message.
final class PeerRequests {
    /// The most requests under way in a loop.
    static let requestsMax = 16_384
    /// The most bytes of requests under way, and as many of requests of which parts are missing.
    static let bytesMax = 67_108_864
    /// The first slot of their connections, above all slots of connections with a transport.
    static let firstSlot: UInt32 = 0x8000_0000

    private struct Entry {
        let peer: ClusterPeer
        let number: UInt64
        let connection: ClientConnection
        let facts: ForwardedFacts
        let bytes: Int
        var flags: ForwardedAnswer.Flags = []
    }

    private let core: LoopCore
    private let gateway: ClusterGateway
    /// The loop of these requests, which outlives them.
    private unowned let server: ServerLoop
    private let admission: Admission
    private let limits: HTTPLimits
    private var entries: [ConnectionID: Entry] = [:]
    private var assembly = MessageAssembly(bytesMax: PeerRequests.bytesMax)
    private var bytes = 0
    private var lastSlot: UInt32 = 0

    init(_ core: LoopCore, _ gateway: ClusterGateway, _ server: ServerLoop) {
        (self.core, self.gateway, self.server) = (core, gateway, server)
        admission = Admission(core, isForPeers: true)
        var limits = core.context.httpLimits
        // The other node has checked its limits, and adds a few lines.
        limits.headerBytesMax = min(limits.headerBytesMax + 1_024, 65_535)
        limits.headerCountMax += 2
        limits.refusedBodyBytesMax = limits.bodyBytesMax
        self.limits = limits
    }

    /// True if the connection belongs to a request of another node.
    static func isOfPeer(_ id: ConnectionID) -> Bool { id.slot >= firstSlot }

    /// True if no request is under way.
    var isEmpty: Bool { entries.isEmpty }

    /// The facts about a request; nil for a connection with a transport.
    func facts(of id: ConnectionID) -> ForwardedFacts? { entries[id]?.facts }

    /// The trace of a request; nil without one.
    func trace(of id: ConnectionID) -> TraceParent? { entries[id]?.connection.request?.trace }

    // MARK: - Requests

    /// Takes a part of a request.
    func take(_ message: PeerMessage, from peer: ClusterPeer) {
        switch assembly.add(message, from: peer, now: core.loop.nowMilliseconds) {
        case .incomplete, .lost: break
        case .full: gateway.refuse(message.number, .full, to: peer.node)
        case .complete(let content): begin(content, message.number, from: peer)
        }
    }

    private func begin(_ content: [UInt8], _ number: UInt64, from peer: ClusterPeer) {
        guard entries.count < Self.requestsMax, bytes + content.count <= Self.bytesMax else {
            return gateway.refuse(number, .full, to: peer.node)
        }
        let phase = gateway.phase
        guard !core.isDraining, phase != .halted, phase != .ended else {
            return gateway.refuse(number, .moved, to: peer.node)
        }
        do throws(MalformedMessageError) {
            let forwarded = try ForwardedRequest(content)
            let connection = ClientConnection(makeID(), from: forwarded.facts.address)
            bytes += content.count
            entries[connection.id] = Entry(
                peer: peer,
                number: number,
                connection: connection,
                facts: forwarded.facts,
                bytes: content.count
            )
            perform(forwarded, on: connection)
        } catch {
            let answer = ForwardedAnswer(Response(Self.unreadable), .problem)
            gateway.send(.answer, number, answer.content, to: peer.node)
        }
    }

    private func makeID() -> ConnectionID {
        lastSlot = (lastSlot + 1) & ~Self.firstSlot
        return ConnectionID(slot: lastSlot | Self.firstSlot, generation: 1)
    }

    private func perform(_ forwarded: ForwardedRequest, on connection: ClientConnection) {
        let exchange = Exchange(loop: core.index, connection: connection.id)
        guard case .request(let request) = connection.receive(forwarded.bytes.span, limits: limits) else {
            return answer(connection.id, Response(Self.unreadable))
        }
        var traits = RequestTraits(
            version: request.version,
            method: MethodLabel(request.method),
            isKeepAlive: true,
            headers: request.headers
        )
        core.log.prepare(&traits, request.headers)
        traits.forwarded = forwarded.facts
        connection.begin(traits)
        do throws(Problem) {
            let length = request.body.count
            guard
                case .perform(let admitted) = try admission.verdict(
                    on: request,
                    length == 0 ? .none : .length(length),
                    connection
                )
            else { throw Self.unreadable }
            switch ClusterDestination(of: admitted.route) {
            // No node forwards such a request.
            case .always, .here: throw Self.unreadable
            case .node(let name?) where name != gateway.member.node: throw Self.unreadable
            case .node, .owner: try server.perform(admitted, request, exchange)
            }
        } catch {
            server.send(Response(error), to: exchange)
        }
    }

    private static var unreadable: Problem {
        Problem(.malformedRequest, "another node of the cluster sent a request that this node cannot read")
    }

    // MARK: - Answers

    /// Records a fact for the limits of the node that took the request.
    func amend(_ id: ConnectionID, _ change: (inout ForwardedAnswer.Flags) -> Void) {
        guard var entry = entries[id] else { return }
        change(&entry.flags)
        entries[id] = entry
    }

    /// Sends the answer to a request.
    func answer(_ id: ConnectionID, _ response: Response) {
        guard let entry = remove(id) else { return }
        var (response, flags) = (response, entry.flags)
        if let pending = response.pendingProblem {
            flags.insert(.problem)
            if let traits = entry.connection.request {
                response = core.log.recorded(pending, in: response, for: traits)
            }
        }
        server.willAnswer()
        gateway.send(.answer, entry.number, ForwardedAnswer(response, flags).content, to: entry.peer.node)
    }

    /// Tells the other node that its request was not taken.
    func refuse(_ id: ConnectionID, _ kind: PeerMessage.Kind) {
        guard let entry = remove(id) else { return }
        gateway.refuse(entry.number, kind, to: entry.peer.node)
    }

    private func remove(_ id: ConnectionID) -> Entry? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        bytes -= entry.bytes
        return entry
    }
}
