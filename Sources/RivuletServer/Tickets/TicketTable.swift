import RivuletAuth

/// The tickets of all streams, with their callers and their targets.
///
/// The value has no clock: times are in milliseconds since 1970. The first opening of a ticket spends it,
/// unless no stream begins, and the client is to come back.
/// A spent ticket opens nothing, because logs keep URLs, and no position of a stream is a secret.
struct TicketTable {
    /// The most tickets of all callers; a full table forgets the oldest eighth.
    static let ticketsMax = 65_536
    /// The most tickets of one caller; the next one replaces the caller's oldest.
    static let ticketsPerCallerMax = 64
    /// The time in which a ticket must be opened, in milliseconds.
    static let openingTimeMax: Int64 = 30_000

    private struct Ticket {
        let caller: String
        let identity: Identity
        let generation: UInt64
        let target: TicketTarget
        let number: UInt64
        let opensBy: Int64
        var isSpent = false

        func isOver(at now: Int64) -> Bool { isSpent || now >= opensBy }
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
        let opensBy = min(now + Self.openingTimeMax, identity.principal?.expires.map { Int64($0) * 1_000 } ?? .max)
        lastNumber += 1
        tickets[id] = Ticket(
            caller: me,
            identity: identity,
            generation: generation,
            target: target,
            number: lastNumber,
            opensBy: opensBy
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
    ///   - generation: The present generation of the keys.
    ///   - now: The time.
    /// - Returns: The opening, with the caller of the ticket.
    /// - Throws: the reason that the ticket does not fit.
    mutating func open(
        _ id: TicketID,
        for target: TicketTarget,
        generation: UInt64,
        now: Int64
    ) throws(TicketError) -> TicketOpening {
        guard let ticket = tickets[id] else { throw .unknown }
        guard ticket.target == target else { throw .target }
        guard ticket.generation == generation else { throw .reloaded }
        guard !ticket.isSpent else { throw .spent }
        guard now < ticket.opensBy else { throw .late }
        tickets[id]?.isSpent = true
        return TicketOpening(id: id, identity: ticket.identity)
    }

    /// Takes back an opening after which no stream has begun; the ticket then opens again until its time for that.
    mutating func giveBack(_ id: TicketID) { tickets[id]?.isSpent = false }
}

/// A ticket that opens a stream.
struct TicketOpening: Sendable {
    let id: TicketID
    let identity: Identity
    /// The node that has made the ticket; nil for this server.
    var node: String?
}
