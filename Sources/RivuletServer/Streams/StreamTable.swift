import DequeModule
import RivuletBase
import RivuletEventLoop
import RivuletJSON
import RivuletSessions

/// An open stream of a loop, carried by its connection.
///
/// Only `StreamTable` changes the stream. An idle stream takes 88 bytes here.
final class OpenStream {
    /// The facts that do not change in a stream's life.
    struct Facts {
        /// The part of the stream's name that cannot be guessed.
        let token: UInt64
        /// The time of its start, in milliseconds since 1970.
        let opened: Int64
        /// The end of its lifetime, in milliseconds of the loop's clock.
        let expires: UInt64
        /// The credential of its caller; nil on a server that asks for no credentials.
        let credential: StreamCredential?
        /// Its place in the counts of its caller; nil without limits.
        var seat: StreamSeat?
        /// True if its body is compressed with gzip.
        let isCompressed: Bool
        /// True if its body is chunked; a body of HTTP/1.0 lasts until the close.
        let isChunked: Bool
        /// True if it has to get each version that it misses when messages between nodes are lost.
        var resumesAll = false
    }

    /// The state of a stream that is in no group.
    final class Outside {
        fileprivate(set) var state: SubscriberState
        /// The cursor up to which it has received everything.
        let cursor: String
        /// True if it has received nothing of its paths, because `cursor` belongs to other paths.
        let isRepathed: Bool
        /// The reason for which its next event has to be a reset; nil if that may be a snapshot.
        let reason: ResetReason?
        /// True if it has received a part of its missed changes version by version, and must get the rest in the same
        /// way.
        let isPaging: Bool

        fileprivate init(
            _ state: SubscriberState,
            at cursor: String,
            isRepathed: Bool = false,
            because reason: ResetReason? = nil,
            isPaging: Bool = false
        ) {
            (self.state, self.cursor, self.isRepathed, self.isPaging) = (state, cursor, isRepathed, isPaging)
            self.reason = reason
        }
    }

    /// The tallies of a compressed stream.
    ///
    /// `sent` is for all text that the stream was sent, `group` for the part of its group's text that `sent` includes.
    fileprivate final class Tallies {
        var sent = GzipTally()
        var group = GzipTally()
    }

    /// The group that it is in, was in last, or is about to join.
    fileprivate(set) var group: SubscriberGroup
    let facts: Facts
    /// Its index among the group's subscribers; meaningless outside a group.
    fileprivate var index: Int32 = 0
    /// The time of the last write to this stream alone, in milliseconds of the loop's clock.
    fileprivate(set) var lastWrite: UInt64
    /// Its state while it is in no group.
    fileprivate(set) var outside: Outside?
    /// The tallies; nil for a stream that is not compressed.
    fileprivate let tallies: Tallies?

    fileprivate init(_ facts: Facts, for group: SubscriberGroup, now: UInt64) {
        self.facts = facts
        self.group = group
        lastWrite = now
        tallies = facts.isCompressed ? Tallies() : nil
    }

    /// The state of the stream.
    var state: SubscriberState { outside?.state ?? group.subscribers[Int(index)].state }

    /// The cursor up to which the stream was sent everything.
    var cursor: String { outside?.cursor ?? group.cursor(at: Int(index)) }

    /// The time of the last write to the stream or its group, in milliseconds of the loop's clock.
    var lastTraffic: UInt64 { outside == nil ? max(lastWrite, group.lastTraffic) : lastWrite }

    /// Adds a text that was sent to this stream alone to the stream's tally, after the text from its group.
    fileprivate func tally(_ text: GzipTally) {
        settleTally()
        tallies?.sent.append(text)
        if outside == nil { group.didWriteAlone(at: Int(index)) }
    }

    /// Adds the text that it got from its group since the last write to this stream alone.
    fileprivate func settleTally() {
        guard let tallies, outside == nil else { return }
        let tally = group.tally(at: Int(index))
        tallies.sent.append(tally.after(tallies.group))
        tallies.group = tally
    }
}

/// The groups of one loop's streams.
struct StreamTable {
    /// A stream that left its group, or was in none.
    struct Leaver {
        let source: StreamSource
        /// The group that it was a member of.
        let group: GroupID?
        /// The end of its body, before the connection closes.
        let trailer: [UInt8]
    }

    private let connections: ConnectionTable
    private var groups: [GroupID: Parts] = [:]
    /// The number of streams.
    private(set) var count = 0
    /// The groups with unwritten events, without duplicates.
    private var queue: Deque<SubscriberGroup> = []
    /// The numbers of delivered events and of their bytes since `takeWritten` was called last.
    private var written = (events: 0, bytes: 0)

    /// Makes a table without streams, for these connections.
    init(of connections: ConnectionTable) { self.connections = connections }

    /// The connections that carry streams, in the order of their slots.
    var all: [ClientConnection] { connections.all.filter { $0.stream != nil } }

    /// Records that a text was written to a stream alone.
    func recordWrite(_ stream: OpenStream, of text: GzipTally?, now: UInt64) {
        stream.lastWrite = now
        if let text { stream.tally(text) }
    }

    /// Returns the numbers of delivered events and of their bytes since the last call.
    mutating func takeWritten() -> (events: Int, bytes: Int) {
        defer { written = (0, 0) }
        return written
    }

    /// The compressed streams of a group, and its other streams.
    private struct Parts {
        var plain: SubscriberGroup?
        var compressed: SubscriberGroup?

        subscript(isCompressed isCompressed: Bool) -> SubscriberGroup? {
            get { isCompressed ? compressed : plain }
            set { if isCompressed { compressed = newValue } else { plain = newValue } }
        }
    }

    // MARK: - Joining and leaving

    /// Puts a stream into the group or state that its source chose; the stream was new, or in no group.
    ///
    /// - Parameters:
    ///   - connection: The connection that carries the stream, or will carry it.
    ///   - join: The group or state, and the cursor.
    ///   - outcome: The outcome of writing the stream's first events.
    ///   - text: The tally of the written text, if the stream is compressed.
    ///   - facts: The facts of a new stream.
    ///   - now: The time of the loop's clock.
    ///   - coder: Makes the bytes of the group's events.
    /// - Returns: The next action.
    mutating func put(
        _ connection: ClientConnection,
        _ join: StreamJoin,
        _ outcome: WriteOutcome,
        text: GzipTally?,
        facts: OpenStream.Facts,
        now: UInt64,
        _ coder: StreamCoder
    ) -> SubscriberState.Action {
        var state = connection.stream?.outside?.state ?? .live
        let action = state.didJoin(join.slot, outcome)
        guard case .group(let id) = join.slot else {
            let stream = connection.stream ?? open(on: connection, facts, for: unjoined(join.source, facts, now), now)
            stream.lastWrite = now
            if let text { stream.tallies?.sent.append(text) }
            stream.outside = OpenStream.Outside(state, at: join.cursor, isPaging: join.slot == .more)
            return action
        }
        let group = group(id, join, facts, now)
        let stream = connection.stream ?? open(on: connection, facts, for: group, now)
        stream.lastWrite = now
        if let text { stream.tallies?.sent.append(text) }
        stream.group = group
        stream.index = Int32(group.add(connection.id, state, isChunked: facts.isChunked, coder))
        stream.tallies?.group = group.tally(at: Int(stream.index))
        stream.outside = nil
        enqueue(group)
        return action
    }

    private mutating func open(
        on connection: ClientConnection,
        _ facts: OpenStream.Facts,
        for group: SubscriberGroup,
        _ now: UInt64
    ) -> OpenStream {
        let stream = OpenStream(facts, for: group, now: now)
        connection.carry(stream)
        count += 1
        return stream
    }

    private mutating func group(
        _ id: GroupID,
        _ join: StreamJoin,
        _ facts: OpenStream.Facts,
        _ now: UInt64
    ) -> SubscriberGroup {
        if let group = groups[id]?[isCompressed: facts.isCompressed] { return group }
        let key = SubscriberGroup.Key(id: id, isCompressed: facts.isCompressed)
        let group = SubscriberGroup(key, source: join.source, cursor: join.cursor, now: now)
        groups[id, default: Parts()][isCompressed: facts.isCompressed] = group
        return group
    }

    /// A group without members, for a stream that follows this source and has not joined one of its groups yet.
    private func unjoined(_ source: StreamSource, _ facts: OpenStream.Facts, _ now: UInt64) -> SubscriberGroup {
        let key = SubscriberGroup.Key(id: GroupID(rawValue: 0), isCompressed: facts.isCompressed)
        return SubscriberGroup(key, source: source, cursor: "", now: now)
    }

    /// Removes a stream; nil if the connection carries none.
    mutating func remove(_ connection: ClientConnection) -> Leaver? {
        guard let stream = connection.stream else { return nil }
        connection.carry(nil)
        count -= 1
        stream.settleTally()
        let (source, trailer) = (stream.group.source, stream.tallies?.sent.trailer ?? [])
        guard stream.outside == nil else {
            return Leaver(source: source, group: nil, trailer: trailer)
        }
        _ = takeOut(stream)
        return Leaver(source: source, group: stream.group.key.id, trailer: trailer)
    }

    /// Takes a stream out of its group, and keeps its cursor; nil if it is in no group.
    mutating func takeOut(_ stream: OpenStream, as state: SubscriberState) -> Leaver? {
        guard stream.outside == nil else { return nil }
        stream.settleTally()
        let cursor = takeOut(stream)
        stream.outside = OpenStream.Outside(state, at: cursor)
        return Leaver(source: stream.group.source, group: stream.group.key.id, trailer: [])
    }

    /// Moves a stream to another source; the stream is in no group until the new source adds it to a group.
    ///
    /// With a reason, the stream's next event is a reset.
    ///
    /// - Returns: The group that the stream left, if it was in one, and the next action.
    mutating func retarget(
        _ stream: OpenStream,
        to source: StreamSource,
        because reason: ResetReason? = nil,
        now: UInt64
    ) -> (leaver: Leaver?, action: SubscriberState.Action) {
        var state = stream.state
        let action = state.didChangePaths()
        let leaver = takeOut(stream, as: state)
        let cursor = stream.outside?.cursor ?? ""
        stream.group = unjoined(source, stream.facts, now)
        stream.outside = OpenStream.Outside(state, at: cursor, isRepathed: true, because: reason)
        return (leaver, action)
    }

    /// Takes a stream out of its group, because it may have missed events; it keeps everything that it still has to
    /// get.
    ///
    /// - Returns: The next action.
    mutating func lose(_ stream: OpenStream) -> SubscriberState.Action {
        var state = stream.state
        let action = state.didLoseSource()
        _ = takeOut(stream, as: state)
        guard let outside = stream.outside else { return action }
        stream.outside = OpenStream.Outside(
            state,
            at: outside.cursor,
            isRepathed: outside.isRepathed,
            because: outside.reason,
            isPaging: outside.isPaging || stream.facts.resumesAll
        )
        return action
    }

    private mutating func takeOut(_ stream: OpenStream) -> String {
        let group = stream.group
        let cursor = group.cursor(at: Int(stream.index))
        group.remove(at: Int(stream.index)) { id, index in connections[id]?.stream?.index = Int32(index) }
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

    /// Updates the state of a stream.
    func update<Result>(_ stream: OpenStream, _ body: (inout SubscriberState) -> Result) -> Result {
        guard let outside = stream.outside else { return stream.group.update(at: Int(stream.index), body) }
        return body(&outside.state)
    }

    /// Writes the rest of its group's log to a stream that has room in its socket again.
    func writeRest(_ stream: OpenStream, to transport: any ConnectionTransport, _ coder: StreamCoder) {
        if stream.outside == nil { stream.group.writeRest(at: Int(stream.index), to: transport, coder) }
    }

    // MARK: - Events

    /// Adds an event for a group's members.
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
        group.enqueued()
        queue.append(group)
    }

    /// Writes the groups' events within the budget of writes; each group has its turn.
    ///
    /// - Returns: The slow consumers, as `SubscriberGroup.slowConsumers` finds them.
    mutating func flush(
        to transport: any ConnectionTransport,
        now: UInt64,
        budget: inout Int,
        bytesMax: Int,
        _ coder: StreamCoder
    ) -> [ConnectionID] {
        var slow: [ConnectionID] = []
        var turns = queue.count
        while turns > 0, budget > 0, transport.hasRoomInTurn, let group = queue.popFirst() {
            turns -= 1
            var slice = min(budget, Self.writesPerGroupMax)
            budget -= slice
            let isWhole = group.flush(to: transport, now: now, budget: &slice, coder)
            let delivered = group.takeDelivered()
            written = (written.events + delivered.events, written.bytes + delivered.bytes)
            if isWhole {
                group.dequeued()
                slow += group.slowConsumers(bytesMax: bytesMax)
            } else {
                queue.append(group)
            }
            budget += slice
            if turns == 0 { turns = queue.count }
        }
        return slow
    }

    /// The most writes of one group before other groups have their turn.
    private static var writesPerGroupMax: Int { 64 }

    /// True if all unwritten events are for one stream alone, which can take them.
    var hasUnwrittenForOne: Bool {
        guard queue.count == 1, let group = queue.first, group.subscribers.count == 1 else { return false }
        return group.subscribers[0].state.phase == .live
    }

    /// True if a group has unwritten events.
    var hasUnwritten: Bool { !queue.isEmpty }
}
