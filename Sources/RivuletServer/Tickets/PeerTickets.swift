import Logging
import RivuletAuth
import RivuletCluster
import RivuletEventLoop

/// The question if a ticket of another node opens a stream.
///
/// It has hashes only, so that no message has a ticket.
struct TicketQuestion: Sendable {
    /// The node that has made the ticket.
    let node: String
    let ticket: TicketID
    let target: TicketTarget

    /// The content of a message.
    var content: [UInt8] { ticket.hash + target.hash }
}

/// The caller of a ticket that another node has opened.
struct PeerOpening: Sendable {
    let node: String
    let id: TicketID
    /// The description of the caller, from which this node's keys and rules make its identity.
    let caller: [UInt8]
}

/// The questions of one loop about tickets of other nodes.
final class PeerTickets {
    /// The most questions without an answer.
    static let questionsMax = 4_096

    private struct Pending {
        let question: TicketQuestion
        let reply: (Result<PeerOpening, CredentialError>) -> Void
    }

    private let core: LoopCore
    private let gateway: ClusterGateway
    private var pending: [UInt64: Pending] = [:]

    init(_ core: LoopCore, _ gateway: ClusterGateway) { (self.core, self.gateway) = (core, gateway) }

    /// Asks the node of a ticket; without an answer in time, the ticket is unknown.
    func ask(_ question: TicketQuestion, reply: @escaping (Result<PeerOpening, CredentialError>) -> Void) {
        guard pending.count < Self.questionsMax else { return reply(.failure(.ticket(.unknown))) }
        let number = gateway.makeNumber(loop: core.index)
        pending[number] = Pending(question: question, reply: reply)
        gateway.send(.ticketQuestion, number, question.content, to: question.node)
        core.loop.schedule(after: .milliseconds(Int64(core.context.options.clusterTimes.ticketMax))) { [weak self] in
            self?.pending.removeValue(forKey: number)?.reply(.failure(.ticket(.unknown)))
        }
    }

    /// Takes the answer to a question.
    func take(_ message: PeerMessage, from sender: ClusterPeer) {
        guard let entry = pending[message.number], entry.question.node == sender.node, message.count == 1 else {
            return
        }
        pending[message.number] = nil
        entry.reply(Self.result(Array(message.part), entry.question))
    }

    private static func result(
        _ content: [UInt8],
        _ question: TicketQuestion
    ) -> Result<PeerOpening, CredentialError> {
        guard let code = content.first else { return .failure(.ticket(.unknown)) }
        guard code == 0 else {
            let errors = TicketError.allCases
            return .failure(.ticket(Int(code) <= errors.count ? errors[Int(code) - 1] : .unknown))
        }
        return .success(PeerOpening(node: question.node, id: question.ticket, caller: Array(content.dropFirst())))
    }
}

extension ServerContext {
    /// Answers a question of another node about a ticket of this one, or takes an opening back.
    ///
    /// The generation of keys is that of this node, which has made the ticket. The other node looks at its own keys.
    func answer(_ message: PeerMessage, from sender: ClusterPeer) {
        guard let authentication, let cluster, message.count == 1 else { return }
        do throws(MalformedMessageError) {
            var reader = MessageReader(message.part)
            let id = try TicketID(&reader)
            guard message.kind == .ticketQuestion else { return authentication.tickets.giveBack(id) }
            let target = try TicketTarget(&reader)
            let content = opening(of: id, for: target, authentication)
            // A caller with more claims than one message has cannot be described.
            guard content.count + PeerMessage.headBytes <= cluster.member.messageBytesMax else { return }
            cluster.send(.ticketAnswer, message.number, content, to: sender.node)
        } catch {
            logger.debug("a malformed message about a ticket was dropped", metadata: ["node": "\(sender.node)"])
        }
    }

    private func opening(of id: TicketID, for target: TicketTarget, _ authentication: Authentication) -> [UInt8] {
        do throws(CredentialError) {
            let opening = try authentication.tickets.open(id, for: target, generation: authentication.generation)
            if isRevoked(opening.identity) { throw .ticket(.unknown) }
            return [0] + opening.identity.described
        } catch {
            guard case .ticket(let error) = error, let index = TicketError.allCases.firstIndex(of: error) else {
                return [1]
            }
            return [UInt8(index + 1)]
        }
    }
}
