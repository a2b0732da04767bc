import RivuletEventLoop
import RivuletSessions

/// The subscribers on one loop that get the same bytes.
///
/// It is a loop-bound object, so that writing iterates over its arrays without a look-up in any table.
final class SubscriberGroup {
    /// The properties that the members have in common.
    struct Key: Hashable {
        let id: GroupID
        let isCompressed: Bool
    }

    let key: Key
    let source: StreamSource
    private(set) var log: EventLog
    /// The connections of all members; `subscribers` has the progress of each at the same index.
    private(set) var connections: [ConnectionID] = []
    private(set) var subscribers: [Subscriber] = []
    /// The number of blocked members; the log is kept for these only.
    private(set) var blockedCount = 0
    /// True if it is in the loop's queue of groups to write.
    private(set) var isQueued = false
    /// The time of the last write to all members that can take it, in milliseconds of the loop's clock.
    private(set) var lastTraffic: UInt64
    /// The numbers of events written to members, and of their bytes with framing, since `takeDelivered` was called
    /// last.
    private var delivered = (events: 0, bytes: 0)
    /// The index of the next subscriber to write to in this pass over all of them.
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

    /// Adds a subscriber that has everything so far; returns its index.
    ///
    /// `isChunked` is true if its body is chunked. Streams of HTTP/1.0 and of HTTP/1.1 share a group and its blocks.
    func add(
        _ connection: ConnectionID,
        _ state: SubscriberState,
        isChunked: Bool,
        _ coder: StreamCoder
    ) -> Int {
        // The earlier events of this turn are for the earlier members only.
        log.close(coder)
        connections.append(connection)
        let form = (isChunked ? SubscriberForm.chunked : []).union(key.isCompressed ? [] : .chained)
        subscribers.append(Subscriber(next: log.end, state: state, form: form))
        count(state, as: 1)
        return subscribers.count - 1
    }

    /// Removes the subscriber at an index; `moved` is called for each other subscriber that gets another index.
    func remove(at index: Int, moved: (_ connection: ConnectionID, _ index: Int) -> Void) {
        let removed = subscribers[index].state
        count(removed, as: -1)
        var hole = index
        if hole < position {
            // The last subscriber may not have been written to in this pass, so it goes after the subscribers that have
            // been written to.
            position -= 1
            move(position, to: hole, moved)
            hole = position
        }
        move(subscribers.count - 1, to: hole, moved)
        connections.removeLast()
        subscribers.removeLast()
        // The log may have been kept for this subscriber alone. If other members are blocked, no search for the needed
        // entries begins here, because thousands of members may fall behind at once.
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

    /// Drops the log if no member needs it; while the group is queued, the flush does this.
    private func letGo() {
        if blockedCount == 0, !isQueued { log.drop(before: log.end) }
    }

    /// Updates the state of a subscriber, and the number of blocked subscribers.
    func update<Result>(at index: Int, _ body: (inout SubscriberState) -> Result) -> Result {
        count(subscribers[index].state, as: -1)
        defer { count(subscribers[index].state, as: 1) }
        return body(&subscribers[index].state)
    }

    /// Records that bytes were written to the subscriber alone.
    func didWriteAlone(at index: Int) {
        if key.isCompressed { subscribers[index].form.remove(.chained) }
    }

    /// The cursor up to which the subscriber at an index has received everything.
    func cursor(at index: Int) -> String { log.cursor(before: subscribers[index].next) }

    /// The tally of the group's text when the subscriber at an index was last written to.
    func tally(at index: Int) -> GzipTally { log.tally(before: subscribers[index].next) }

    /// Records that the group is in the loop's queue.
    func enqueued() { isQueued = true }

    /// Records that the group has left the loop's queue.
    func dequeued() { isQueued = false }

    // MARK: - Events

    /// Adds an event for all subscribers.
    func append(_ block: StreamBlock, cursor: String) { log.append(block, cursor: cursor) }

    /// Writes the log to the members that lack a part of it; false if the budget of writes or the turn's room is spent
    /// first.
    ///
    /// All entries since the last write to a subscriber are one write. Blocked members are left out.
    func flush(to transport: any ConnectionTransport, now: UInt64, budget: inout Int, _ coder: StreamCoder) -> Bool {
        log.close(coder)
        let end = log.end
        guard log.start < end else { return true }
        lastTraffic = now
        if position == 0 { passEnd = end }
        while true {
            guard write(upTo: end, to: transport, &budget, coder) else { return false }
            position = 0
            // Some members may have been written to before the last event came. A further pass writes that event to
            // them.
            guard passEnd < end else { break }
            passEnd = end
        }
        if blockedCount == 0 { log.drop(before: end) }
        return true
    }

    /// Writes to the members from `position` on; false if the budget is spent before the last member.
    private func write(
        upTo end: UInt64,
        to transport: any ConnectionTransport,
        _ budget: inout Int,
        _ coder: StreamCoder
    ) -> Bool {
        // The array is taken out of the object for the loop, because each access to an object's array is checked for
        // exclusivity.
        var members = exchange(&subscribers, with: [])
        defer { subscribers = members }
        // Many members may lack the same several entries. They share these bytes.
        var rest: (next: UInt64, form: SubscriberForm, bytes: [SharedBytes])?
        while position < members.count {
            let member = members[position]
            guard member.next < end, member.state.phase == .live else {
                position += 1
                continue
            }
            // In a turn without room the write would be queued, and the member would seem to be slow.
            guard budget > 0, transport.hasRoomInTurn else { return false }
            guard member.next + 1 == end, let block = log.last(isChained: member.form.isChained, coder) else {
                if rest?.next != member.next || rest?.form != member.form {
                    rest = (member.next, member.form, bytes(from: member.next, member.form, coder))
                }
                guard let bytes = rest?.bytes else { return true }
                budget -= 1
                count(bytes, from: member.next)
                record(transport.write(connections[position], [], bytes[...]), of: &members, end)
                continue
            }
            let bytes = block.bytes(isChunked: member.form.isChunked)
            let run = Self.run(in: members.span, from: position, end, budget)
            let (sent, outcome) = transport.write(bytes, toEach: connections.span.extracting(position..<run))
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
                record(outcome, of: &members, end)
            }
        }
        return true
    }

    /// The end of a run of members, from `start` on, that all need only the last entry, in the same form.
    ///
    /// The run has at most `budget` members.
    private static func run(in members: Span<Subscriber>, from start: Int, _ end: UInt64, _ budget: Int) -> Int {
        let form = members[start].form
        let limit = min(members.count, start + budget)
        var index = start + 1
        while index < limit, members[index].next + 1 == end, members[index].state.phase == .live,
            members[index].form == form
        { index += 1 }
        return index
    }

    /// Records the outcome of the write to the member at `position`, and moves on to the next member.
    private func record(_ outcome: WriteOutcome, of members: inout [Subscriber], _ end: UInt64) {
        members[position].next = end
        members[position].form.insert(.chained)
        members[position].state.didWrite(outcome)
        count(members[position].state, as: 1)
        position += 1
    }

    /// The entries from that number on, in the form for members with `form`.
    private func bytes(from number: UInt64, _ form: SubscriberForm, _ coder: StreamCoder) -> [SharedBytes] {
        log.blocks(from: number, isChained: form.isChained, coder).map { $0.bytes(isChunked: form.isChunked) }
    }

    private func count(_ bytes: [SharedBytes], from number: UInt64) {
        delivered.events += log.eventCount(from: number)
        delivered.bytes += bytes.reduce(0) { $0 + $1.count }
    }

    /// Returns the numbers of events and of their bytes that were delivered since the last call.
    func takeDelivered() -> (events: Int, bytes: Int) {
        defer { delivered = (0, 0) }
        return delivered
    }

    /// Writes the rest of the log, as one write, to a subscriber that has room in its socket again.
    func writeRest(at index: Int, to transport: any ConnectionTransport, _ coder: StreamCoder) {
        // Events of this turn that are not an entry yet are left to the flush, which visits the group anyway.
        let next = subscribers[index].next
        let rest = bytes(from: next, subscribers[index].form, coder)
        if !rest.isEmpty {
            subscribers[index].next = log.end
            subscribers[index].form.insert(.chained)
            count(rest, from: next)
            let outcome = transport.write(connections[index], [], rest[...])
            update(at: index) { $0.didWrite(outcome) }
        }
        letGo()
    }

    /// The slow consumers of a log with more than `bytesMax` bytes: the blocked members that lack more than `bytesMax /
    /// 2` bytes.
    func slowConsumers(bytesMax: Int) -> [ConnectionID] {
        guard log.byteCount > bytesMax, blockedCount > 0 else { return [] }
        log.drop(before: subscribers.lazy.map(\.next).min() ?? log.end)
        guard log.byteCount > bytesMax else { return [] }
        // After these members leave, the log needs at most half of the limit, so that the next event does not cause
        // another search.
        let earliest = log.number(ofLast: bytesMax / 2)
        return subscribers.indices.filter { index in
            subscribers[index].state.phase == .blocked && subscribers[index].next < earliest
        }.map { connections[$0] }
    }
}

/// The progress of a group's member.
struct Subscriber {
    /// The number of the first entry of its group's log that it has not been sent.
    var next: UInt64
    var state: SubscriberState
    var form: SubscriberForm
}

/// The form in which a group's member gets the next entry of its group's log.
///
/// It is one byte, because each delivery compares the forms of successive members.
struct SubscriberForm: OptionSet, Sendable {
    let rawValue: UInt8

    /// The last bytes sent to the member are the entry before `next`; always set if nothing is compressed.
    static let chained = SubscriberForm(rawValue: 1)
    /// Its body is chunked, as in HTTP/1.1; otherwise only the content is sent.
    static let chunked = SubscriberForm(rawValue: 2)

    var isChained: Bool { contains(.chained) }
    var isChunked: Bool { contains(.chunked) }
}
