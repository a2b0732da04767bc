/// The groups of a session's streams: the watched paths of each group, and the number of its members on each loop.
struct StreamMembership {
    private var groups: [GroupID: StreamGroup] = [:]
    private var ids: [StreamGroupKey: GroupID] = [:]
    /// The watched paths of all groups.
    private var watches = StreamWatches()
    /// The number of streams of all groups, including streams that wait to be members.
    private(set) var count = 0
    /// The number of streams that wait for the next change of a group that has an interval.
    private(set) var waitingCount = 0

    /// The approximate memory of a stream that waits for the next change of its group, in bytes.
    private static let waitingStreamBytes = 64

    /// Begins without groups.
    init() {}

    /// Begins with the groups of a passivated session.
    init(groups: [GroupID: StreamGroup], count: Int) {
        self.groups = groups
        self.count = count
        ids = Dictionary(uniqueKeysWithValues: groups.map { ($1.key, $0) })
        watches = StreamWatches(groups)
    }

    var isEmpty: Bool { groups.isEmpty }

    /// The approximate memory of the groups, in bytes.
    var bytes: Int {
        waitingCount * Self.waitingStreamBytes + groups.count * StreamGroup.memoryBytes + watches.memoryBytes
    }

    var all: [GroupID: StreamGroup] { groups }

    subscript(id: GroupID) -> StreamGroup? { groups[id] }

    /// The watched paths of the state, or of a view; nil when no group watches it.
    func paths(of view: String?) -> PathTrie<GroupID>? { watches.paths(of: view) }

    /// Returns the id of the group with this key.
    ///
    /// If there is no such group, makes one with an id from `makeID`.
    mutating func group(_ key: StreamGroupKey, makeID: () -> GroupID) -> GroupID {
        if let id = ids[key] { return id }
        let id = makeID()
        ids[key] = id
        groups[id] = StreamGroup(key)
        watches.insert(id, key)
        return id
    }

    /// True if a group is sent a change now; false if the change is merged with the following ones.
    ///
    /// `position` is the position of the members before the change.
    mutating func isDue(_ id: GroupID, at now: Duration, from position: Cursor.Position) -> Bool {
        groups[id]?.pace?.record(at: now, from: position) ?? true
    }

    /// Adds a stream that has got its first events.
    ///
    /// The stream is a member at once, or waits until its group is sent the pending changes.
    mutating func add(
        _ stream: StreamID,
        to id: GroupID,
        at now: Duration,
        position: Cursor.Position,
        hasGotChange: Bool
    ) -> StreamSlot {
        count += 1
        let isMember = groups[id]?.pace?.join(stream, at: now, position: position, hasGotChange: hasGotChange)
        guard isMember == false else {
            groups[id]?.add(loop: stream.loop)
            return .group(id)
        }
        waitingCount += 1
        return .waiting
    }

    /// Adds a stream to the members of the group for which it waited.
    mutating func didWait(_ stream: StreamID, in id: GroupID) {
        waitingCount -= 1
        groups[id]?.add(loop: stream.loop)
    }

    /// Returns the delay of the group's next timer; nil if the group needs none, or if a timer is under way.
    mutating func nextTick(of id: GroupID, at now: Duration) -> Duration? { groups[id]?.pace?.nextTick(at: now) }

    /// Records that a group's timer has fired.
    ///
    /// - Returns: The position of the group's members, if they are to be sent an event now.
    mutating func tickDidFire(of id: GroupID, at now: Duration) -> Cursor.Position? {
        groups[id]?.pace?.tickDidFire()
        return groups[id]?.pace?.takePending(at: now)
    }

    /// Takes the waiting streams of a group that become members now; if `now` is nil, takes all waiting streams.
    mutating func takeWaiting(of id: GroupID, at now: Duration?) -> [StreamPace.Waiting] {
        guard let now else { return groups[id]?.pace?.takeAllWaiting() ?? [] }
        return groups[id]?.pace?.takeWaiting(at: now) ?? []
    }

    /// Records that the members of a group were sent an event.
    mutating func didSend(to id: GroupID, at now: Duration) { groups[id]?.pace?.didSend(at: now) }

    /// Removes one member on that loop from a group; false if there is no such member.
    mutating func leave(_ id: GroupID, loop: Int) -> Bool {
        guard groups[id]?.remove(loop: loop) == true else { return false }
        count -= 1
        return true
    }

    /// Removes all members on these loops; returns the groups that had some.
    mutating func dropLoops(_ isDropped: (_ loop: Int) -> Bool) -> [GroupID] {
        var changed: [GroupID] = []
        for id in groups.keys {
            guard let dropped = groups[id]?.dropLoops(isDropped), dropped > 0 else { continue }
            count -= dropped
            changed.append(id)
        }
        return changed
    }

    /// Removes a group without members.
    ///
    /// - Returns: True if the group was removed.
    mutating func forgetIfEmpty(_ id: GroupID) -> Bool {
        guard let group = groups[id], group.isEmpty else { return false }
        groups[id] = nil
        ids[group.key] = nil
        watches.remove(id, group.key)
        return true
    }
}

/// The key of a group, and the number of its members on each loop.
///
/// Only the loops know the members themselves.
struct StreamGroup {
    let key: StreamGroupKey
    /// The pace of the group's events; nil if members are sent each change at once.
    fileprivate(set) var pace: StreamPace?
    /// The loops that have members.
    private(set) var loops: [Int] = []
    /// The number of members on each of the loops.
    private var counts: [Int] = []

    /// The approximate memory of a group without its paths, in bytes.
    static let memoryBytes = 512

    init(_ key: StreamGroupKey) {
        self.key = key
        pace = key.interval.map(StreamPace.init)
    }

    /// True if the group has neither members nor streams that wait to be members.
    var isEmpty: Bool { loops.isEmpty && pace?.waiting.isEmpty != false }

    var count: Int { counts.reduce(0, +) }

    mutating func add(loop: Int) {
        if let index = loops.firstIndex(of: loop) {
            counts[index] += 1
        } else {
            loops.append(loop)
            counts.append(1)
        }
    }

    /// Removes one member on that loop; false if the loop has none.
    @discardableResult
    mutating func remove(loop: Int) -> Bool {
        guard let index = loops.firstIndex(of: loop) else { return false }
        counts[index] -= 1
        guard counts[index] == 0 else { return true }
        loops.remove(at: index)
        counts.remove(at: index)
        return true
    }

    /// Removes all members on these loops; returns their number.
    mutating func dropLoops(_ isDropped: (_ loop: Int) -> Bool) -> Int {
        var dropped = 0
        for loop in loops where isDropped(loop) {
            guard let index = loops.firstIndex(of: loop) else { continue }
            dropped += counts[index]
            loops.remove(at: index)
            counts.remove(at: index)
        }
        return dropped
    }
}
