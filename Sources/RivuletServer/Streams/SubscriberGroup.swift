import RivuletEventLoop
import RivuletSessions

/// The subscribers on one loop that get the same bytes.
///
/// An object, confined to its loop: writing goes over its arrays without a look into any table.
final class SubscriberGroup {
    /// What the members have in common.
    struct Key: Hashable {
        let id: GroupID
        let isCompressed: Bool
    }

    let key: Key
    let source: StreamSource
    private(set) var log: EventLog
    /// The connections of all members, and, at the same index, how far each is.
    private(set) var connections: [ConnectionID] = []
    private(set) var subscribers: [Subscriber] = []
    /// How many of them are blocked; the log is kept for these only.
    private(set) var blockedCount = 0
    /// Whether it is in the loop's queue of groups to write.
    private(set) var isQueued = false
    /// When everybody who can take it was last given something, in milliseconds of the loop's clock.
    private(set) var lastTraffic: UInt64
    /// How many events were written to members, and in how many bytes with their framing, since this was taken last.
    private var delivered = (events: 0, bytes: 0)
    /// The next subscriber to be written to in this pass over all of them.
    private var position = 0
    /// The end of the log when this pass began.
    private var passEnd: UInt64 = 0

    init(_ key: Key, source: StreamSource, cursor: String, now: UInt64) {
        self.key = key
        self.source = source
        log = EventLog(at: cursor, isCompressed: key.isCompressed)
        lastTraffic = now
    }

    // MARK: - Members

    /// Adds a subscriber that has everything up to now; returns its index.
    ///
    /// `isChunked` is whether its body is chunked: streams of HTTP/1.0 and of HTTP/1.1 share a group, and the blocks of it.
    func add(
        _ connection: ConnectionID,
        _ state: SubscriberState,
        isChunked: Bool,
        _ coder: StreamCoder
    ) -> Int {
        // What came before in this turn belongs to the members of before.
        log.close(coder)
        connections.append(connection)
        let form = (isChunked ? SubscriberForm.chunked : []).union(key.isCompressed ? [] : .chained)
        subscribers.append(Subscriber(next: log.end, state: state, form: form))
        count(state, as: 1)
        return subscribers.count - 1
    }

    /// Takes the subscriber at an index out; others move to other indices, which `moved` is told.
    func remove(at index: Int, moved: (_ connection: ConnectionID, _ index: Int) -> Void) {
        let removed = subscribers[index].state
        count(removed, as: -1)
        var hole = index
        if hole < position {
            // The last may not have been written to in this pass: it goes behind those that have.
            position -= 1
            move(position, to: hole, moved)
            hole = position
        }
        move(subscribers.count - 1, to: hole, moved)
        connections.removeLast()
        subscribers.removeLast()
        // The log may have been kept for it alone. With others blocked a look over all of them has to wait: they may fall behind by thousands at once.
        if removed.phase != .live { letGo() }
    }

    private func move(_ index: Int, to hole: Int, _ moved: (ConnectionID, Int) -> Void) {
        guard index != hole else { return }
        connections[hole] = connections[index]
        subscribers[hole] = subscribers[index]
        moved(connections[hole], hole)
    }

    private func count(_ state: SubscriberState, as change: Int) {
        if state.phase == .blocked { blockedCount += change }
    }

    /// Lets go of the log when nobody needs it; while the group is queued the flush does.
    private func letGo() {
        if blockedCount == 0, !isQueued { log.drop(before: log.end) }
    }

    /// Tells the state of a subscriber what has happened.
    func update<Result>(at index: Int, _ body: (inout SubscriberState) -> Result) -> Result {
        count(subscribers[index].state, as: -1)
        defer { count(subscribers[index].state, as: 1) }
        return body(&subscribers[index].state)
    }

    /// Notes that the subscriber was sent something of its own.
    func didWriteAlone(at index: Int) {
        if key.isCompressed { subscribers[index].form.remove(.chained) }
    }

    /// Where the subscriber at an index stands: it has got everything up to there.
    func cursor(at index: Int) -> String { log.cursor(before: subscribers[index].next) }

    /// What the group had sent when the subscriber at an index was last written to.
    func tally(at index: Int) -> GzipTally { log.tally(before: subscribers[index].next) }

    /// Says that the group is in the loop's queue.
    func enqueued() { isQueued = true }

    /// Says that the group has left the loop's queue.
    func dequeued() { isQueued = false }

    // MARK: - Events

    /// Notes an event for all subscribers.
    func append(_ block: StreamBlock, cursor: String) { log.append(block, cursor: cursor) }

    /// Writes to those who have not got everything, until all have or the budget of writes is spent; true when all have who can take it.
    ///
    /// Events that came since a subscriber was last written to are one write, however many they are.
    func flush(to wire: any ConnectionWire, now: UInt64, budget: inout Int, _ coder: StreamCoder) -> Bool {
        log.close(coder)
        let end = log.end
        guard log.start < end else { return true }
        lastTraffic = now
        if position == 0 { passEnd = end }
        while true {
            guard write(upTo: end, to: wire, &budget, coder) else { return false }
            position = 0
            // Those who were written to before the last event came are given it in a pass of their own.
            guard passEnd < end else { break }
            passEnd = end
        }
        if blockedCount == 0 { log.drop(before: end) }
        return true
    }

    /// Writes to the members from `position` on; false when the budget is spent before the last.
    private func write(upTo end: UInt64, to wire: any ConnectionWire, _ budget: inout Int, _ coder: StreamCoder) -> Bool
    {
        // Taken out of the object for the time of the loop: each access to an object's array is checked for exclusivity.
        var members = exchange(&subscribers, with: [])
        defer { subscribers = members }
        // Those who were not reached while several events came are many, and need the same.
        var rest: (next: UInt64, form: SubscriberForm, bytes: [SharedBytes])?
        while position < members.count {
            let member = members[position]
            guard member.next < end, member.state.phase == .live else {
                position += 1
                continue
            }
            // In a turn without room they would be queued, and seem to be slow.
            guard budget > 0, wire.hasRoomInTurn else { return false }
            guard member.next + 1 == end, let block = log.last(isChained: member.form.isChained, coder) else {
                if rest?.next != member.next || rest?.form != member.form {
                    rest = (member.next, member.form, bytes(from: member.next, member.form, coder))
                }
                guard let bytes = rest?.bytes else { return true }
                budget -= 1
                count(bytes, from: member.next)
                note(wire.write(connections[position], [], bytes[...]), of: &members, end)
                continue
            }
            let bytes = block.bytes(isChunked: member.form.isChunked)
            let run = Self.run(in: members.span, from: position, end, budget)
            let (sent, outcome) = wire.write(bytes, toEach: connections.span.extracting(position..<run))
            for index in position..<position + sent {
                members[index].next = end
                members[index].form.insert(.chained)
            }
            let written = min(sent + 1, run - position)
            delivered.events += written * log.eventCount(from: end - 1)
            delivered.bytes += written * bytes.count
            position += sent
            budget -= sent
            if position < run {
                budget -= 1
                note(outcome, of: &members, end)
            }
        }
        return true
    }

    /// The end of the members from `start` on that need the last event only, in the same form, as many as the budget allows.
    private static func run(in members: Span<Subscriber>, from start: Int, _ end: UInt64, _ budget: Int) -> Int {
        let form = members[start].form
        let limit = min(members.count, start + budget)
        var index = start + 1
        while index < limit, members[index].next + 1 == end, members[index].state.phase == .live,
            members[index].form == form
        { index += 1 }
        return index
    }

    /// Notes what became of the write to the member at `position`, and goes on to the next.
    private func note(_ outcome: WriteOutcome, of members: inout [Subscriber], _ end: UInt64) {
        members[position].next = end
        members[position].form.insert(.chained)
        members[position].state.didWrite(outcome)
        count(members[position].state, as: 1)
        position += 1
    }

    /// The entries from that number on, as a member in that form is sent them.
    private func bytes(from number: UInt64, _ form: SubscriberForm, _ coder: StreamCoder) -> [SharedBytes] {
        log.blocks(from: number, isChained: form.isChained, coder).map { $0.bytes(isChunked: form.isChunked) }
    }

    private func count(_ bytes: [SharedBytes], from number: UInt64) {
        delivered.events += log.eventCount(from: number)
        delivered.bytes += bytes.reduce(0) { $0 + $1.count }
    }

    /// Takes what was counted since the last time.
    func takeDelivered() -> (events: Int, bytes: Int) {
        defer { delivered = (0, 0) }
        return delivered
    }

    /// Gives a subscriber whose socket has room again the rest of the log, as one write.
    func writeRest(at index: Int, to wire: any ConnectionWire, _ coder: StreamCoder) {
        // While something is still to be made an entry of this turn, or others are, the flush goes over it anyway.
        let next = subscribers[index].next
        let rest = bytes(from: next, subscribers[index].form, coder)
        if !rest.isEmpty {
            subscribers[index].next = log.end
            subscribers[index].form.insert(.chained)
            count(rest, from: next)
            let outcome = wire.write(connections[index], [], rest[...])
            update(at: index) { $0.didWrite(outcome) }
        }
        letGo()
    }

    /// The slow consumers: more than so many bytes wait for each in the log; none as long as the log has no more.
    func slowConsumers(bytesMax: Int) -> [ConnectionID] {
        guard log.byteCount > bytesMax, blockedCount > 0 else { return [] }
        log.drop(before: subscribers.lazy.map(\.next).min() ?? log.end)
        guard log.byteCount > bytesMax else { return [] }
        // Half of it, so that the next look is not due with the next event.
        let earliest = log.number(ofLast: bytesMax / 2)
        return subscribers.indices.filter { index in
            subscribers[index].state.phase == .blocked && subscribers[index].next < earliest
        }.map { connections[$0] }
    }
}

/// How far a member of a group is.
struct Subscriber {
    /// The number of the first event of its group's log that it has not been given.
    var next: UInt64
    var state: SubscriberState
    var form: SubscriberForm
}

/// The form in which a member of a group is sent the next event of its group's log.
///
/// One byte, because a run of members that need the same form is found by comparing it for each delivery.
struct SubscriberForm: OptionSet, Sendable {
    let rawValue: UInt8

    /// The last bytes that it was sent are those of the event before the next; always, where nothing is compressed.
    static let chained = SubscriberForm(rawValue: 1)
    /// Its body is chunked, as that of HTTP/1.1 is; without, the content alone is sent.
    static let chunked = SubscriberForm(rawValue: 2)

    var isChained: Bool { contains(.chained) }
    var isChunked: Bool { contains(.chunked) }
}
