import RivuletAuth
import RivuletSessions
import RivuletStores
import Synchronization

/// The tickets of a running server, which all loops share.
///
/// Any thread may call it.
final class StreamTickets: Sendable {
    private let table = Mutex(TicketTable())

    /// Makes a ticket of 256 random bits, and returns it with the time by which it must be opened.
    ///
    /// The time is in milliseconds since 1970.
    func make(
        for identity: Identity,
        me: String,
        generation: UInt64,
        target: TicketTarget
    ) -> (ticket: String, opensBy: Int64) {
        var generator = SystemRandomNumberGenerator()
        let ticket = Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
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
        _ ticket: String,
        for target: TicketTarget,
        at cursor: Cursor?,
        generation: UInt64
    ) throws(CredentialRefusal) -> TicketOpening {
        do throws(TicketFault) {
            return try table.withLock { table throws(TicketFault) in
                let now = WallClock.milliseconds()
                return try table.open(TicketID(ticket), for: target, at: cursor, generation: generation, now: now)
            }
        } catch {
            throw .ticket(error)
        }
    }

    /// Takes back an opening, because the client was told to come back.
    func giveBack(_ opening: TicketOpening) { table.withLock { $0.giveBack(opening) } }

    /// True if the ticket opens again at this position, when its stream has ended.
    func opensAgain(_ id: TicketID, at cursor: Cursor) -> Bool { table.withLock { $0.opensAgain(id, at: cursor) } }

    fileprivate func streamDidBegin(_ stream: StreamID, of id: TicketID) {
        table.withLock { $0.streamDidBegin(stream, of: id) }
    }

    fileprivate func streamDidEnd(_ stream: StreamID, of id: TicketID, at cursor: Cursor?) {
        table.withLock { $0.streamDidEnd(stream, of: id, at: cursor) }
    }
}

/// The open streams of one loop that were opened with tickets.
struct TicketStreams {
    private let tickets: StreamTickets?
    private var ids: [StreamID: TicketID] = [:]

    /// Makes a list without streams; `tickets` is nil on a server that asks for no credentials.
    init(of tickets: StreamTickets?) { self.tickets = tickets }

    /// The ticket of a stream; nil if it has none.
    subscript(stream: StreamID) -> TicketID? { ids[stream] }

    /// Records a stream that a ticket has opened.
    mutating func didBegin(_ stream: StreamID, by opening: TicketOpening?) {
        guard let opening else { return }
        ids[stream] = opening.id
        tickets?.streamDidBegin(stream, of: opening.id)
    }

    /// Records the end of a stream at this position, if a ticket has opened it.
    mutating func didEnd(_ stream: @autoclosure () -> StreamID, at cursor: String) {
        guard !ids.isEmpty else { return }
        let stream = stream()
        guard let id = ids.removeValue(forKey: stream) else { return }
        tickets?.streamDidEnd(stream, of: id, at: Cursor(cursor))
    }
}
