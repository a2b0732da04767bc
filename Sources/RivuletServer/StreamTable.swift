// Part of Rivulet. See README.md for the architecture.
// Owns the streams that live on one loop: who is in which group, and what is to be written in this turn.

import RivuletEventLoop
import RivuletJSON
import RivuletSessions

/// One loop's members of all groups.
///
/// Events of a turn are gathered per group and written once per member.
struct StreamTable {
    /// A stream of this loop.
    struct Member {
        let connection: ConnectionID
        /// The uptime at which it says `bye`, in milliseconds of the loop's clock.
        let expires: UInt64
    }

    /// The members of one group on this loop.
    struct Group {
        let source: StreamSource
        var members: [Member] = []
        /// Bytes of this turn's events, not yet written.
        var pending: [UInt8] = []
        /// Where a member stands that has got everything up to now.
        var cursor: String
        /// Whether it is in this turn's list of groups to write.
        var isDirty = false
        /// The loop's clock at the last write, in milliseconds.
        var lastTraffic: UInt64
    }

    private(set) var groups: [GroupID: Group] = [:]
    /// Where each stream stands: its group, and its index among the members.
    private var places: [ConnectionID: (group: GroupID, index: Int)] = [:]
    private var dirty: [GroupID] = []

    /// How many streams live here.
    var count: Int { places.count }

    /// Adds a member; what was delivered before has to be written first (`takeDirty`).
    mutating func join(_ member: Member, group id: GroupID, as new: @autoclosure () -> Group) {
        let index = groups[id]?.members.count ?? 0
        groups[id, default: new()].members.append(member)
        places[member.connection] = (id, index)
    }

    /// A stream that left its group.
    struct Leaver {
        let group: GroupID
        let source: StreamSource
        /// Where it stands: it has got everything up to here.
        let cursor: String
        let member: Member
    }

    /// Takes a member out, if it was one.
    mutating func leave(_ connection: ConnectionID) -> Leaver? {
        guard let (id, place) = places.removeValue(forKey: connection), let index = groups.index(forKey: id) else {
            return nil
        }
        let last = groups.values[index].members.count - 1
        groups.values[index].members.swapAt(place, last)
        let member = groups.values[index].members.removeLast()
        if place < last { places[groups.values[index].members[place].connection] = (id, place) }
        let group = groups.values[index]
        if group.members.isEmpty { groups[id] = nil }
        return Leaver(group: id, source: group.source, cursor: group.cursor, member: member)
    }

    /// Notes an event for the group's members.
    mutating func deliver(_ bytes: [UInt8], cursor: String, to id: GroupID) {
        guard let index = groups.index(forKey: id) else { return }
        groups.values[index].pending.append(contentsOf: bytes)
        groups.values[index].cursor = cursor
        guard !groups.values[index].isDirty else { return }
        groups.values[index].isDirty = true
        dirty.append(id)
    }

    /// The groups with unwritten events, with those events and their members; they are written when this returns.
    mutating func takeDirty(now: UInt64) -> [(bytes: [UInt8], members: [Member])] {
        guard !dirty.isEmpty else { return [] }
        var writes: [(bytes: [UInt8], members: [Member])] = []
        for id in dirty {
            guard let index = groups.index(forKey: id) else { continue }
            writes.append((groups.values[index].pending, groups.values[index].members))
            groups.values[index].pending = []
            groups.values[index].isDirty = false
            groups.values[index].lastTraffic = now
        }
        dirty.removeAll(keepingCapacity: true)
        return writes
    }

    /// The members of groups that had no traffic since `limit`; they count as written now.
    mutating func takeQuiet(since limit: UInt64, now: UInt64) -> [ConnectionID] {
        var quiet: [ConnectionID] = []
        for index in groups.indices where groups.values[index].lastTraffic <= limit {
            quiet.append(contentsOf: groups.values[index].members.map(\.connection))
            groups.values[index].lastTraffic = now
        }
        return quiet
    }

    /// The streams whose time is over.
    func expired(at now: UInt64) -> [ConnectionID] {
        groups.values.flatMap { group in group.members.lazy.filter { $0.expires <= now }.map(\.connection) }
    }

    /// Takes a whole group out.
    mutating func removeGroup(_ id: GroupID) -> Group? {
        guard let group = groups.removeValue(forKey: id) else { return nil }
        for member in group.members { places[member.connection] = nil }
        return group
    }
}
