import RivuletAuth
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
        generation: UInt64
    ) throws(CredentialError) -> TicketOpening {
        do throws(TicketError) {
            return try table.withLock { table throws(TicketError) in
                let now = WallClock.milliseconds()
                return try table.open(TicketID(ticket), for: target, generation: generation, now: now)
            }
        } catch {
            throw .ticket(error)
        }
    }

    /// Takes back an opening, because the client was told to come back.
    func giveBack(_ opening: TicketOpening) { table.withLock { $0.giveBack(opening) } }
}
