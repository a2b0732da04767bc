// Part of Rivulet. See README.md for the architecture.
// Owns the streams that live on one loop: who is in which group, who is in none, and which groups have something to be written.

import DequeModule
import RivuletEventLoop
import RivuletJSON
import RivuletSessions

/// One loop's streams and their groups.
struct StreamTable {
    /// A stream of this loop.
    struct Stream {
        /// The group that it is in, or was in last, or is meant for.
        fileprivate(set) var group: SubscriberGroup
        /// Its index among the group's subscribers; meaningless outside.
        fileprivate var index: Int
        /// Where it stands, and what it does there, while it is in no group.
        fileprivate(set) var outside: Outside?
        let facts: Facts
        /// When it was last written to alone, in milliseconds of the loop's clock.
        var lastWrite: UInt64
    }

    /// What does not change in a stream's life.
    struct Facts {
        /// What nobody guesses of its name.
        let token: UInt64
        /// The uptime at which it began, in milliseconds of the loop's clock.
        let opened: UInt64
        /// The uptime at which it says `bye`.
        let expires: UInt64
    }

    /// A stream in no group.
    struct Outside {
        var state: SubscriberState
        /// It has got everything up to here.
        let cursor: String
        /// Whether it was sent a part of what it missed version by version, and is to go on so.
        let isPaging: Bool
    }

    /// A stream that left its group, or was in none.
    struct Leaver {
        let source: StreamSource
        /// The group that it was a member of.
        let group: GroupID?
        let cursor: String
    }

    private var groups: [GroupID: SubscriberGroup] = [:]
    private var streams = SlotTable<Stream>()
    /// Groups with something to be written, each once.
    private var queue: Deque<SubscriberGroup> = []

    /// How many streams live here.
    var count: Int { streams.count }

    /// The connections of all of them.
    var ids: [ConnectionID] { streams.ids }

    subscript(id: ConnectionID) -> Stream? { streams[id] }

    /// Notes that something was written to it alone.
    mutating func noteWrite(_ id: ConnectionID, now: UInt64) {
        _ = streams.update(id) { $0.lastWrite = now }
    }

    // MARK: - Joining and leaving

    /// Puts a stream where its session wants it; it was new, or in no group.
    ///
    /// `outcome` is what became of what it was sent before.
    ///
    /// - Returns: What is to be done now.
    mutating func put(
        _ id: ConnectionID,
        _ join: StreamJoin,
        _ outcome: WriteOutcome,
        now: UInt64,
        account: SharedBytes.Account,
        facts: @autoclosure () -> Facts
    ) -> SubscriberState.Action {
        let known = streams[id]
        var state = known?.outside?.state ?? .live
        let action = state.didJoin(join.place, outcome)
        let facts = known?.facts ?? facts()
        guard case .group(let groupID) = join.place else {
            let group =
                known?.group
                ?? SubscriberGroup(id: GroupID(rawValue: 0), source: join.source, cursor: join.cursor, now: now)
            streams[id] = Stream(
                group: group,
                index: 0,
                outside: Outside(state: state, cursor: join.cursor, isPaging: join.place == .more),
                facts: facts,
                lastWrite: now
            )
            return action
        }
        let group =
            groups[groupID] ?? SubscriberGroup(id: groupID, source: join.source, cursor: join.cursor, now: now)
        groups[groupID] = group
        let index = group.add(id, state, account: account)
        enqueue(group)
        streams[id] = Stream(group: group, index: index, outside: nil, facts: facts, lastWrite: now)
        return action
    }

    /// Forgets a stream; nil when it was none.
    mutating func remove(_ id: ConnectionID) -> Leaver? {
        guard let stream = streams[id] else { return nil }
        streams[id] = nil
        if let outside = stream.outside {
            return Leaver(source: stream.group.source, group: nil, cursor: outside.cursor)
        }
        let cursor = takeOut(stream)
        return Leaver(source: stream.group.source, group: stream.group.id, cursor: cursor)
    }

    /// Takes a stream out of its group, which stands at its cursor from then on; nil when it is in none.
    mutating func takeOut(_ id: ConnectionID, as state: SubscriberState) -> Leaver? {
        guard let stream = streams[id], stream.outside == nil else { return nil }
        let cursor = takeOut(stream)
        _ = streams.update(id) { $0.outside = Outside(state: state, cursor: cursor, isPaging: false) }
        return Leaver(source: stream.group.source, group: stream.group.id, cursor: cursor)
    }

    private mutating func takeOut(_ stream: Stream) -> String {
        let group = stream.group
        let wasWaitedFor = group.subscribers[stream.index].state.phase != .live
        let cursor = group.remove(at: stream.index) { connection, index in
            _ = streams.update(connection) { $0.index = index }
        }
        if group.subscribers.isEmpty {
            groups[group.id] = nil
        } else if wasWaitedFor {
            group.trim()
        }
        return cursor
    }

    /// Takes a whole group out, and gives its members.
    mutating func removeGroup(_ id: GroupID) -> [ConnectionID] {
        guard let group = groups.removeValue(forKey: id) else { return [] }
        let members = group.subscribers.map(\.connection)
        for member in members { streams[member] = nil }
        return members
    }

    // MARK: - States

    /// The state of a stream; nil when there is none.
    func state(of id: ConnectionID) -> SubscriberState? {
        guard let stream = streams[id] else { return nil }
        return stream.outside?.state ?? stream.group.subscribers[stream.index].state
    }

    /// Tells the state of a stream what has happened; nil when there is none.
    mutating func update<Result>(_ id: ConnectionID, _ body: (inout SubscriberState) -> Result) -> Result? {
        guard let stream = streams[id] else { return nil }
        guard var outside = stream.outside else { return stream.group.update(at: stream.index, body) }
        defer { _ = streams.update(id) { $0.outside = outside } }
        return body(&outside.state)
    }

    /// Gives a stream whose socket has room again what its group has for it.
    mutating func writeRest(_ id: ConnectionID, to wire: any ConnectionWire) {
        guard let stream = streams[id], stream.outside == nil else { return }
        stream.group.writeRest(at: stream.index, to: wire)
    }

    // MARK: - Events

    /// Notes an event for a group's members.
    mutating func deliver(_ bytes: SharedBytes, cursor: String, to id: GroupID) {
        guard let group = groups[id] else { return }
        group.append(bytes, cursor: cursor)
        enqueue(group)
    }

    private mutating func enqueue(_ group: SubscriberGroup) {
        guard !group.isQueued else { return }
        group.isQueued = true
        queue.append(group)
    }

    /// Writes what the groups have, as far as the budget of writes goes; each group has its turn.
    ///
    /// - Returns: Those for whom more than `bytesMax` bytes wait in their group.
    mutating func flush(
        to wire: any ConnectionWire,
        now: UInt64,
        budget: inout Int,
        bytesMax: Int,
        account: SharedBytes.Account
    ) -> [ConnectionID] {
        var laggards: [ConnectionID] = []
        var turns = queue.count
        while turns > 0, budget > 0, let group = queue.popFirst() {
            turns -= 1
            var slice = min(budget, Self.writesPerGroupMax)
            budget -= slice
            if group.flush(to: wire, now: now, budget: &slice, account: account) {
                group.isQueued = false
                laggards += group.laggards(bytesMax: bytesMax)
            } else {
                queue.append(group)
            }
            budget += slice
            if turns == 0 { turns = queue.count }
        }
        return laggards
    }

    /// The most writes of one group before others have their turn.
    private static var writesPerGroupMax: Int { 64 }

    /// Whether a group has something that was not written yet.
    var hasUnwritten: Bool { !queue.isEmpty }
}
