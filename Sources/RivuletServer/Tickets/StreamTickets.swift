import RivuletAuth
import RivuletStores
import Synchronization

/// The tickets of a running server, which all loops share.
///
/// Any thread may call it.
final class StreamTickets: Sendable {
    private let table = Mutex(TicketTable())

    /// The name of the node in a cluster, with which its tickets begin; nil for a server that is alone.
    private let node: String?

    init(node: String?) { self.node = node }

    /// The name of the node that has made a ticket; nil for a ticket without one.
    static func node(of ticket: String) -> String? {
        ticket.lastIndex(of: ".").map { String(ticket[..<$0]) }
    }

    /// Makes a ticket of 256 random bits, and returns it with the time by which it must be opened.
    ///
    /// The time is in milliseconds since 1970. In a cluster, the ticket begins with the node's name and a point.
    func make(
        for identity: Identity,
        me: String,
        generation: UInt64,
        target: TicketTarget
    ) -> (ticket: String, opensBy: Int64) {
        var generator = SystemRandomNumberGenerator()
        let text = Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        let ticket = node.map { "\($0).\(text)" } ?? text
        let opensBy = table.withLock {
            $0.insert(
                TicketID(ticket),
                of: identity,
                me: me,
                generation: generation,
                for: target,
                now: WallClock.milliseconds()
            )
        }
        return (ticket, opensBy)
    }

    /// Opens a ticket.
    ///
    /// - Throws: the reason that it does not open.
    func open(
        _ ticket: TicketID,
        for target: TicketTarget,
        generation: UInt64
    ) throws(CredentialError) -> TicketOpening {
        do throws(TicketError) {
            return try table.withLock { table throws(TicketError) in
                let now = WallClock.milliseconds()
                return try table.open(ticket, for: target, generation: generation, now: now)
            }
        } catch {
            throw .ticket(error)
        }
    }

    /// Takes back an opening, because the client was told to come back.
    func giveBack(_ id: TicketID) { table.withLock { $0.giveBack(id) } }
}
