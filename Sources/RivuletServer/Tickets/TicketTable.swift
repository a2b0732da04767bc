import RivuletAuth
import RivuletSessions

/// The tickets of all streams, with their callers and their targets.
///
/// The value has no clock: times are in milliseconds since 1970. The first opening of a ticket spends it,
/// unless no stream begins, and the client is to come back.
/// A spent ticket opens again only for a reader that knows a position of its stream.
struct TicketTable {
    /// The most tickets of all callers; a full table forgets the oldest eighth.
    static let ticketsMax = 65_536
    /// The most tickets of one caller; the next one replaces the caller's oldest.
    static let ticketsPerCallerMax = 64
    /// The time in which a ticket must be opened, in milliseconds.
    static let openingTimeMax: Int64 = 30_000
    /// The longest life of a ticket of a credential without an end, in milliseconds.
    static let lifeMax: Int64 = 86_400_000

    private struct Ticket {
        let caller: String
        let identity: Identity
        let generation: UInt64
        let target: TicketTarget
        let number: UInt64
        let opensBy: Int64
        let ends: Int64
        var isSpent = false
        /// The stream that it carries; nil while it carries none.
        var stream: StreamID?
        /// The position at which its last stream ended; nil before.
        var end: Cursor?

        func isOver(at now: Int64) -> Bool { now >= (isSpent ? ends : opensBy) }
    }

    private let ticketsMax: Int
    private var tickets: [TicketID: Ticket] = [:]
    /// The tickets of each caller, oldest first.
    private var callers: [String: [TicketID]] = [:]
    private var lastNumber: UInt64 = 0

    init(ticketsMax: Int = ticketsMax) { self.ticketsMax = max(ticketsMax, 1) }

    /// The number of tickets.
    var count: Int { tickets.count }

    // MARK: - Making

    /// Adds a ticket, and returns the time by which it must be opened.
    ///
    /// `generation` is that of the keys under which the caller was found. `me` names the caller.
    mutating func insert(
        _ id: TicketID,
        of identity: Identity,
        me: String,
        generation: UInt64,
        for target: TicketTarget,
        now: Int64
    ) -> Int64 {
        if tickets.count >= ticketsMax { makeRoom(now: now) }
        makeRoom(of: me, now: now)
        let ends = min(identity.principal?.expires.map { Int64($0) * 1_000 } ?? .max, now + Self.lifeMax)
        let opensBy = min(now + Self.openingTimeMax, ends)
        lastNumber += 1
        tickets[id] = Ticket(
            caller: me,
            identity: identity,
            generation: generation,
            target: target,
            number: lastNumber,
            opensBy: opensBy,
            ends: ends
        )
        callers[me, default: []].append(id)
        return opensBy
    }

    /// Removes tickets that open nothing any more and, if too many remain, the oldest.
    private mutating func makeRoom(now: Int64) {
        for (id, ticket) in tickets where ticket.isOver(at: now) { remove(id) }
        let surplus = tickets.count - ticketsMax * 7 / 8
        guard surplus > 0 else { return }
        for (id, _) in tickets.sorted(by: { $0.value.number < $1.value.number }).prefix(surplus) { remove(id) }
    }

    /// Removes the caller's tickets that open nothing any more and, if it still has the most, its oldest.
    private mutating func makeRoom(of me: String, now: Int64) {
        guard let own = callers[me], own.count >= Self.ticketsPerCallerMax else { return }
        let over = own.filter { tickets[$0]?.isOver(at: now) ?? true }
        for id in over.isEmpty ? Array(own.prefix(1)) : over { remove(id) }
    }

    private mutating func remove(_ id: TicketID) {
        guard let ticket = tickets.removeValue(forKey: id) else { return }
        callers[ticket.caller]?.removeAll { $0 == id }
        if callers[ticket.caller]?.isEmpty == true { callers[ticket.caller] = nil }
    }

    // MARK: - Opening

    /// Opens a ticket.
    ///
    /// A ticket that does not fit stays as it is.
    ///
    /// - Parameters:
    ///   - id: The ticket.
    ///   - target: The target of the request.
    ///   - cursor: The position in the request's `Last-Event-ID`; nil if it has none.
    ///   - generation: The present generation of the keys.
    ///   - now: The time.
    /// - Returns: The opening; its position is still to be checked if it has a stream.
    /// - Throws: the reason that the ticket does not fit.
    mutating func open(
        _ id: TicketID,
        for target: TicketTarget,
        at cursor: Cursor?,
        generation: UInt64,
        now: Int64
    ) throws(TicketFault) -> TicketOpening {
        guard let ticket = tickets[id] else { throw .unknown }
        guard ticket.target == target else { throw .target }
        guard ticket.generation == generation else { throw .reloaded }
        guard now < ticket.ends else { throw .over }
        guard ticket.isSpent else {
            guard now < ticket.opensBy else { throw .late }
            tickets[id]?.isSpent = true
            return TicketOpening(id: id, identity: ticket.identity, again: nil, isFirst: true)
        }
        guard let cursor else { throw .spent }
        if let stream = ticket.stream {
            return TicketOpening(id: id, identity: ticket.identity, again: .init(stream: stream, cursor: cursor))
        }
        guard cursor.isReached(by: ticket.end) else { throw .position }
        return TicketOpening(id: id, identity: ticket.identity, again: nil)
    }

    /// Takes back an opening after which no stream has begun; the ticket then opens again until its time for that.
    mutating func giveBack(_ opening: TicketOpening) {
        if opening.isFirst { tickets[opening.id]?.isSpent = false }
    }

    /// True if the ticket opens again at this position, when its stream has ended meanwhile.
    func opensAgain(_ id: TicketID, at cursor: Cursor) -> Bool { cursor.isReached(by: tickets[id]?.end) }

    // MARK: - Streams

    /// Records the stream that a ticket has opened.
    mutating func streamDidBegin(_ stream: StreamID, of id: TicketID) { tickets[id]?.stream = stream }

    /// Records the position at which a ticket's stream ended.
    mutating func streamDidEnd(_ stream: StreamID, of id: TicketID, at cursor: Cursor?) {
        guard var ticket = tickets[id] else { return }
        if ticket.stream == stream { ticket.stream = nil }
        // An earlier stream of the ticket may end after a later one.
        if let cursor, !cursor.isReached(by: ticket.end) { ticket.end = cursor }
        tickets[id] = ticket
    }
}

/// A ticket that opens a stream.
struct TicketOpening: Sendable {
    /// An opening of a ticket with a stream that may be open still, so that its position is known to its loop only.
    struct Again: Sendable {
        let stream: StreamID
        let cursor: Cursor
    }

    let id: TicketID
    let identity: Identity
    let again: Again?
    /// True if it has spent the ticket.
    var isFirst = false
}

extension Cursor {
    /// True if a reader at the other position has been at this one: the same history, and not beyond.
    func isReached(by other: Cursor?) -> Bool {
        guard let other, epoch == other.epoch else { return false }
        guard incarnation == other.incarnation else { return position.version <= other.position.version }
        return position <= other.position
    }
}
