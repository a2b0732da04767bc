// Part of Rivulet. See README.md for the architecture.
// Owns the subscribers of one group on this loop, and the writing of the group's events to them.

import RivuletEventLoop
import RivuletSessions

/// The subscribers on one loop that get the same bytes.
///
/// An object, confined to its loop: writing goes over its array without a look into any table.
final class SubscriberGroup {
    let id: GroupID
    let source: StreamSource
    private(set) var log: EventLog
    private(set) var subscribers: [Subscriber] = []
    /// How many of them are blocked; the log is kept for these only.
    private(set) var blockedCount = 0
    /// Whether it is in the loop's queue of groups to write.
    var isQueued = false
    /// When everybody who can take it was last given something, in milliseconds of the loop's clock.
    private(set) var lastTraffic: UInt64
    /// The next subscriber to be written to in this pass over all of them.
    private var position = 0
    /// The end of the log when this pass began.
    private var passEnd: UInt64 = 0

    init(id: GroupID, source: StreamSource, cursor: String, now: UInt64) {
        self.id = id
        self.source = source
        log = EventLog(at: cursor)
        lastTraffic = now
    }

    // MARK: - Members

    /// Adds a subscriber that has everything up to now; returns its index.
    func add(_ connection: ConnectionID, _ state: SubscriberState, account: SharedBytes.Account) -> Int {
        // What came before in this turn belongs to the members of before.
        log.close(account)
        subscribers.append(Subscriber(connection: connection, next: log.end, state: state))
        count(state, as: 1)
        return subscribers.count - 1
    }

    /// Takes the subscriber at an index out; others move to other indices, which `moved` is told.
    ///
    /// - Returns: Where it stands: it has got everything up to there.
    func remove(at index: Int, moved: (_ connection: ConnectionID, _ index: Int) -> Void) -> String {
        let removed = subscribers[index]
        count(removed.state, as: -1)
        var hole = index
        if hole < position {
            // Whoever comes from the end may not have been written to in this pass: it goes behind those who have.
            position -= 1
            move(position, to: hole, moved)
            hole = position
        }
        move(subscribers.count - 1, to: hole, moved)
        subscribers.removeLast()
        return log.cursor(before: removed.next)
    }

    private func count(_ state: SubscriberState, as change: Int) {
        if state.phase == .blocked { blockedCount += change }
    }

    private func move(_ index: Int, to hole: Int, _ moved: (ConnectionID, Int) -> Void) {
        guard index != hole else { return }
        subscribers[hole] = subscribers[index]
        moved(subscribers[hole].connection, hole)
    }

    // MARK: - Events

    /// Notes an event for all subscribers.
    func append(_ bytes: SharedBytes, cursor: String) { log.append(bytes, cursor: cursor) }

    /// Writes to those who have not got everything, until all have or the budget of writes is spent; true when all have who can take it.
    ///
    /// Events that came since a subscriber was last written to are one write, however many they are.
    func flush(to wire: any ConnectionWire, now: UInt64, budget: inout Int, account: SharedBytes.Account) -> Bool {
        log.close(account)
        let end = log.end
        guard let last = log.last, log.start < end else { return true }
        lastTraffic = now
        if position == 0 { passEnd = end }
        // Taken out of the object for the time of the loop: each access to an object's array is checked for exclusivity.
        var members = exchange(&subscribers, with: [])
        defer { subscribers = members }
        while true {
            position = write(last, upTo: end, &members, to: wire, &budget)
            guard position == members.count else { return false }
            position = 0
            // Those who were written to before the last event came are given it in a pass of their own.
            guard passEnd < end else { break }
            passEnd = end
        }
        if blockedCount == 0 { log.drop(before: end) }
        return true
    }

    /// Writes to the members from `position` on; where it stopped, which is their count when it went through.
    private func write(
        _ last: SharedBytes,
        upTo end: UInt64,
        _ members: inout [Subscriber],
        to wire: any ConnectionWire,
        _ budget: inout Int
    ) -> Int {
        var members = members.mutableSpan
        var index = position
        while index < members.count {
            let (next, phase) = (members[index].next, members[index].state.phase)
            guard next < end, phase == .live else {
                index += 1
                continue
            }
            guard budget > 0 else { return index }
            budget -= 1
            members[index].next = end
            let outcome =
                next + 1 == end
                ? wire.write(members[index].connection, last)
                : wire.write(members[index].connection, [], log.bytes(from: next)[...])
            if case .queued = outcome {
                members[index].state.didWrite(outcome)
                blockedCount += 1
            }
            index += 1
        }
        return index
    }

    /// Gives a subscriber whose socket has room again the rest of the log, as one write.
    func writeRest(at index: Int, to wire: any ConnectionWire) {
        // While something is still to be made an entry of this turn, or others are, the flush goes over it anyway.
        let rest = log.bytes(from: subscribers[index].next)
        if !rest.isEmpty {
            subscribers[index].next = log.end
            let outcome = wire.write(subscribers[index].connection, [], rest[...])
            update(at: index) { $0.didWrite(outcome) }
        }
        if blockedCount == 0, !isQueued { log.drop(before: log.end) }
    }

    /// Tells the state of a subscriber what has happened.
    func update<Result>(at index: Int, _ body: (inout SubscriberState) -> Result) -> Result {
        count(subscribers[index].state, as: -1)
        defer { count(subscribers[index].state, as: 1) }
        return body(&subscribers[index].state)
    }

    /// Those for whom more than so many bytes wait in the log; none as long as the log has no more.
    func laggards(bytesMax: Int) -> [ConnectionID] {
        guard log.byteCount > bytesMax, blockedCount > 0 else { return [] }
        return subscribers.filter { subscriber in
            // Half of it, so that the next look is not due with the next event.
            subscriber.state.phase == .blocked && log.byteCount(from: subscriber.next) > bytesMax / 2
        }.map(\.connection)
    }

    /// Lets go of what all subscribers have got.
    func trim() {
        let needed = subscribers.lazy.map(\.next).min() ?? log.end
        log.drop(before: needed)
    }
}
