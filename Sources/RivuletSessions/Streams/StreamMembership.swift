/// The groups of a session's streams: what each watches, and how many members it has on each loop.
struct StreamMembership {
    private var groups: [GroupID: StreamGroup] = [:]
    private var ids: [StreamGroupKey: GroupID] = [:]
    /// What the groups watch.
    private var watches = StreamWatches()
    /// Streams of all groups, and those that wait to be members.
    private(set) var count = 0
    /// Streams that wait for the next change of a group that has an interval.
    private(set) var waitingCount = 0

    /// What a stream takes that waits for the next change of its group.
    private static let waitingStreamBytes = 64

    /// Nobody watches.
    init() {}

    /// Begins with the groups of an earlier stay in memory.
    init(groups: [GroupID: StreamGroup], count: Int) {
        self.groups = groups
        self.count = count
        ids = Dictionary(uniqueKeysWithValues: groups.map { ($1.key, $0) })
        watches = StreamWatches(groups)
    }

    var isEmpty: Bool { groups.isEmpty }

    /// What they take of memory, roughly.
    var bytes: Int {
        waitingCount * Self.waitingStreamBytes + groups.count * StreamGroup.memoryBytes + watches.memoryBytes
    }

    var all: [GroupID: StreamGroup] { groups }

    subscript(id: GroupID) -> StreamGroup? { groups[id] }

    /// The watched paths of the state, or of a view; nil when no group watches it.
    func paths(of view: String?) -> PathTrie<GroupID>? { watches.paths(of: view) }

    /// The group with this key, which is made with the name that `makeID` gives when it is not there.
    mutating func group(_ key: StreamGroupKey, makeID: () -> GroupID) -> GroupID {
        if let id = ids[key] { return id }
        let id = makeID()
        ids[key] = id
        groups[id] = StreamGroup(key)
        watches.insert(id, key)
        return id
    }

    /// Whether a group is told now of what its members saw change, who stood at `position` before; otherwise it is told with what follows.
    mutating func isDue(_ id: GroupID, at now: Duration, from position: Cursor.Position) -> Bool {
        groups[id]?.pace?.note(at: now, from: position) ?? true
    }

    /// Counts a stream that has got its first events, and makes it a member of its group at once, or when its members are told the rest.
    mutating func add(
        _ stream: StreamID,
        to id: GroupID,
        at now: Duration,
        position: Cursor.Position,
        hasGotChange: Bool
    ) -> StreamPlace {
        count += 1
        let isMember = groups[id]?.pace?.join(stream, at: now, position: position, hasGotChange: hasGotChange)
        guard isMember == false else {
            groups[id]?.add(loop: stream.loop)
            return .group(id)
        }
        waitingCount += 1
        return .waiting
    }

    /// Makes a stream that waited a member.
    mutating func didWait(_ stream: StreamID, in id: GroupID) {
        waitingCount -= 1
        groups[id]?.add(loop: stream.loop)
    }

    /// How long until the group's timer that is needed and not under way; nil: there is none.
    mutating func nextTick(of id: GroupID, at now: Duration) -> Duration? { groups[id]?.pace?.nextTick(at: now) }

    /// Says that a group's timer has fired.
    ///
    /// - Returns: Where its members stand, if they are to be told something now.
    mutating func tickDidFire(of id: GroupID, at now: Duration) -> Cursor.Position? {
        groups[id]?.pace?.tickDidFire()
        return groups[id]?.pace?.takePending(at: now)
    }

    /// Takes the streams of a group that become members now; nil for `now`: all of them.
    mutating func takeWaiting(of id: GroupID, at now: Duration?) -> [StreamPace.Waiting] {
        guard let now else { return groups[id]?.pace?.takeAllWaiting() ?? [] }
        return groups[id]?.pace?.takeWaiting(at: now) ?? []
    }

    /// Says that the members of a group were told something.
    mutating func didSend(to id: GroupID, at now: Duration) { groups[id]?.pace?.didSend(at: now) }

    /// Takes back one membership of that loop; false: there is no such group.
    mutating func leave(_ id: GroupID, loop: Int) -> Bool {
        guard groups[id] != nil else { return false }
        groups[id]?.remove(loop: loop)
        count -= 1
        return true
    }

    /// Forgets a group without members.
    ///
    /// - Returns: Whether it is forgotten.
    mutating func forgetIfEmpty(_ id: GroupID) -> Bool {
        guard let group = groups[id], group.isEmpty else { return false }
        groups[id] = nil
        ids[group.key] = nil
        watches.remove(id, group.key)
        return true
    }
}

/// What a group watches, and how many members it has on each loop.
///
/// Who they are is the loops' business.
struct StreamGroup {
    let key: StreamGroupKey
    /// When its members are told; nil: at once.
    fileprivate(set) var pace: StreamPace?
    /// The loops that have members.
    private(set) var loops: [Int] = []
    /// How many members each of the loops has.
    private var counts: [Int] = []

    /// What one takes of memory besides its paths, roughly.
    static let memoryBytes = 512

    init(_ key: StreamGroupKey) {
        self.key = key
        pace = key.interval.map(StreamPace.init)
    }

    /// Whether it has no member and nobody who will be one.
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

    mutating func remove(loop: Int) {
        guard let index = loops.firstIndex(of: loop) else { return }
        counts[index] -= 1
        guard counts[index] == 0 else { return }
        loops.remove(at: index)
        counts.remove(at: index)
    }
}
