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
        /// What it was sent, and what of its group's text it began with; of a compressed stream only.
        fileprivate var tally = GzipTally()
        fileprivate var groupTally = GzipTally()
        /// When it was last written to alone, in milliseconds of the loop's clock.
        var lastWrite: UInt64
    }

    /// What does not change in a stream's life.
    struct Facts {
        /// What nobody guesses of its name.
        let token: UInt64
        /// When it began, in milliseconds since 1970.
        let opened: Int64
        /// The uptime at which it says `bye`.
        let expires: UInt64
        /// Where its client is.
        let address: PeerAddress.IP
        /// Whether it is a gzip body.
        let isCompressed: Bool
        /// Whether its body is chunked; one of HTTP/1.0 lasts until the close.
        let isChunked: Bool
    }

    /// A stream in no group.
    struct Outside {
        var state: SubscriberState
        /// It has got everything up to here.
        let cursor: String
        /// Whether it has nothing of its paths yet, as they were others there.
        let isRepathed: Bool
        /// Whether it was sent a part of what it missed version by version, and is to go on so.
        let isPaging: Bool
    }

    /// A stream that left its group, or was in none.
    struct Leaver {
        let source: StreamSource
        /// The group that it was a member of.
        let group: GroupID?
        let cursor: String
        let address: PeerAddress.IP
        /// How its body ends, before the connection does.
        let trailer: [UInt8]

        fileprivate init(_ stream: Stream, group: GroupID?, cursor: String, trailer: [UInt8]) {
            source = stream.group.source
            address = stream.facts.address
            self.group = group
            self.cursor = cursor
            self.trailer = trailer
        }
    }

    private var groups: [GroupID: Parts] = [:]
    private var streams = SlotTable<Stream>()
    /// How many events were delivered, and in how many bytes, since somebody last looked.
    var written = (events: 0, bytes: 0)
    /// Groups with something to be written, each once.
    private var queue: Deque<SubscriberGroup> = []

    /// How many streams live here.
    var count: Int { streams.count }

    /// The connections of all of them.
    var ids: [ConnectionID] { streams.ids }

    subscript(id: ConnectionID) -> Stream? { streams[id] }

    /// Notes that a text was written to a stream alone.
    mutating func noteWrite(_ id: ConnectionID, of text: GzipTally?, now: UInt64) {
        _ = streams.update(id) { stream in
            stream.lastWrite = now
            if let text { Self.tally(text, to: &stream) }
        }
    }

    /// Counts a text of its own behind those of its group.
    private static func tally(_ text: GzipTally, to stream: inout Stream) {
        settleTally(of: &stream)
        stream.tally.append(text)
        if stream.outside == nil { stream.group.didWriteAlone(at: stream.index) }
    }

    /// Counts what it got of its group since it was last written to alone.
    private static func settleTally(of stream: inout Stream) {
        guard stream.facts.isCompressed, stream.outside == nil else { return }
        let tally = stream.group.tally(at: stream.index)
        stream.tally.append(tally.after(stream.groupTally))
        stream.groupTally = tally
    }

    /// The compressed streams of a group, and the others.
    private struct Parts {
        var plain: SubscriberGroup?
        var compressed: SubscriberGroup?

        subscript(isCompressed isCompressed: Bool) -> SubscriberGroup? {
            get { isCompressed ? compressed : plain }
            set { if isCompressed { compressed = newValue } else { plain = newValue } }
        }
    }

    // MARK: - Joining and leaving

    /// Puts a stream where its session wants it; it was new, or in no group.
    ///
    /// `outcome` is what became of what it was sent before, `text` the tally of that when it is compressed.
    ///
    /// - Returns: What is to be done now.
    mutating func put(
        _ id: ConnectionID,
        _ join: StreamJoin,
        _ outcome: WriteOutcome,
        text: GzipTally?,
        facts: Facts,
        now: UInt64,
        _ coder: StreamCoder
    ) -> SubscriberState.Action {
        var state = streams[id]?.outside?.state ?? .live
        let action = state.didJoin(join.place, outcome)
        var stream = streams[id] ?? newStream(join, facts, now)
        stream.lastWrite = now
        if let text { stream.tally.append(text) }
        if case .group(let groupID) = join.place {
            let key = SubscriberGroup.Key(id: groupID, isCompressed: facts.isCompressed)
            let group =
                groups[groupID]?[isCompressed: facts.isCompressed]
                ?? SubscriberGroup(key, source: join.source, cursor: join.cursor, now: now)
            groups[groupID, default: Parts()][isCompressed: facts.isCompressed] = group
            stream.group = group
            stream.index = group.add(id, state, isChunked: facts.isChunked, coder)
            stream.groupTally = group.tally(at: stream.index)
            stream.outside = nil
            enqueue(group)
        } else {
            stream.outside = Outside(
                state: state,
                cursor: join.cursor,
                isRepathed: false,
                isPaging: join.place == .more
            )
        }
        streams[id] = stream
        return action
    }

    /// A stream in no group yet.
    private func newStream(_ join: StreamJoin, _ facts: Facts, _ now: UInt64) -> Stream {
        let nobodys = SubscriberGroup.Key(id: GroupID(rawValue: 0), isCompressed: facts.isCompressed)
        return Stream(
            group: SubscriberGroup(nobodys, source: join.source, cursor: join.cursor, now: now),
            index: 0,
            outside: Outside(state: .live, cursor: join.cursor, isRepathed: false, isPaging: false),
            facts: facts,
            lastWrite: now
        )
    }

    /// Forgets a stream; nil when it was none.
    mutating func remove(_ id: ConnectionID) -> Leaver? {
        guard var stream = streams[id] else { return nil }
        streams[id] = nil
        Self.settleTally(of: &stream)
        let trailer = stream.facts.isCompressed ? stream.tally.trailer : []
        if let outside = stream.outside {
            return Leaver(stream, group: nil, cursor: outside.cursor, trailer: trailer)
        }
        let cursor = takeOut(stream)
        return Leaver(stream, group: stream.group.key.id, cursor: cursor, trailer: trailer)
    }

    /// Takes a stream out of its group, which stands at its cursor from then on; nil when it is in none.
    mutating func takeOut(_ id: ConnectionID, as state: SubscriberState) -> Leaver? {
        guard var stream = streams[id], stream.outside == nil else { return nil }
        Self.settleTally(of: &stream)
        let cursor = takeOut(stream)
        stream.outside = Outside(state: state, cursor: cursor, isRepathed: false, isPaging: false)
        streams[id] = stream
        return Leaver(stream, group: stream.group.key.id, cursor: cursor, trailer: [])
    }

    /// Makes a stream one of another source: it is in no group until it joins one of that.
    ///
    /// - Returns: What it left, when it was in a group, and what is to be done now; nil when there is no such stream.
    mutating func retarget(
        _ id: ConnectionID,
        to source: StreamSource,
        now: UInt64
    ) -> (leaver: Leaver?, action: SubscriberState.Action)? {
        guard var state = state(of: id) else { return nil }
        let action = state.didChangePaths()
        let leaver = takeOut(id, as: state)
        _ = streams.update(id) { stream in
            let nobodys = SubscriberGroup.Key(id: GroupID(rawValue: 0), isCompressed: stream.facts.isCompressed)
            let cursor = stream.outside?.cursor ?? ""
            stream.group = SubscriberGroup(nobodys, source: source, cursor: cursor, now: now)
            stream.outside = Outside(state: state, cursor: cursor, isRepathed: true, isPaging: false)
        }
        return (leaver, action)
    }

    private mutating func takeOut(_ stream: Stream) -> String {
        let group = stream.group
        let cursor = group.cursor(at: stream.index)
        group.remove(at: stream.index) { connection, index in
            _ = streams.update(connection) { $0.index = index }
        }
        if group.subscribers.isEmpty { forget(group.key) }
        return cursor
    }

    private mutating func forget(_ key: SubscriberGroup.Key) {
        guard var parts = groups[key.id] else { return }
        parts[isCompressed: key.isCompressed] = nil
        groups[key.id] = parts.plain == nil && parts.compressed == nil ? nil : parts
    }

    /// The members of a group.
    func members(of id: GroupID) -> [ConnectionID] {
        (groups[id]?.plain?.connections ?? []) + (groups[id]?.compressed?.connections ?? [])
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
    mutating func writeRest(_ id: ConnectionID, to wire: any ConnectionWire, _ coder: StreamCoder) {
        guard let stream = streams[id], stream.outside == nil else { return }
        stream.group.writeRest(at: stream.index, to: wire, coder)
    }

    // MARK: - Events

    /// Notes an event for a group's members.
    mutating func deliver(_ block: StreamBlock, cursor: String, to id: GroupID) {
        guard let parts = groups[id] else { return }
        if let group = parts.plain { append(block, cursor: cursor, to: group) }
        if let group = parts.compressed { append(block, cursor: cursor, to: group) }
    }

    private mutating func append(_ block: StreamBlock, cursor: String, to group: SubscriberGroup) {
        group.append(block, cursor: cursor)
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
        _ coder: StreamCoder
    ) -> [ConnectionID] {
        var laggards: [ConnectionID] = []
        var turns = queue.count
        while turns > 0, budget > 0, let group = queue.popFirst() {
            turns -= 1
            var slice = min(budget, Self.writesPerGroupMax)
            budget -= slice
            let isWhole = group.flush(to: wire, now: now, budget: &slice, coder)
            let delivered = group.takeDelivered()
            written = (written.events + delivered.events, written.bytes + delivered.bytes)
            if isWhole {
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

    /// Whether what was not written yet is for one stream alone, which takes it.
    var hasUnwrittenForOne: Bool {
        guard queue.count == 1, let group = queue.first, group.subscribers.count == 1 else { return false }
        return group.subscribers[0].state.phase == .live
    }

    /// Whether a group has something that was not written yet.
    var hasUnwritten: Bool { !queue.isEmpty }
}
