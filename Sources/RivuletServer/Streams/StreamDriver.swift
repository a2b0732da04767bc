import RivuletAuth
import RivuletBase
import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletSessions
import RivuletStores
import Synchronization

/// Drives the streams of one loop: joining, writing within a turn's budget, falling behind, ending.
///
/// It treats streams of sessions, stores and values alike.
/// A source answers a `StreamSubscription` by messages: `join` or `refuse` for the stream, `deliver` and `end` for its
/// group.
final class StreamDriver {
    /// The most writes to streams in one turn of the loop: about 2 ms, after which requests are handled.
    private static let writesPerTurnMax = 256
    /// The time between two steps of draining.
    private static let drainStep = Duration.milliseconds(50)
    /// The fewest streams that one step ends; this number of clients may reconnect at once.
    private static let streamsPerDrainStepMin = 64
    /// The time after which a connection that takes none of its waiting bytes may be closed, in milliseconds.
    private static let takingTimeMax: UInt64 = 10_000
    /// The time after which a notice that a stream could not take is tried again, in milliseconds.
    private static let noticeDelay: UInt64 = 1_000
    /// The milliseconds between two searches for such connections.
    private static let sheddingInterval: UInt64 = 1_000

    private let core: LoopCore
    private let connections: ConnectionDriver
    private var table: StreamTable
    /// The sources on another node; nil for a server that is alone.
    private unowned var remote: RemoteSources?
    /// Makes the bytes of the events.
    private let coder: StreamCoder
    private let writer: StreamWriter
    /// The interval of heartbeats, shortened by the lateness of the timer wheel: up to 1/31 of a delay.
    private let heartbeatMilliseconds: UInt64
    /// True if this turn has already written to a single stream before an answer.
    private var hasFlushedSingle = false
    /// The time of the next search for connections that take nothing.
    private var nextShedding: UInt64 = 0

    init(_ core: LoopCore, _ connections: ConnectionDriver, _ table: ConnectionTable) {
        self.core = core
        self.connections = connections
        self.table = StreamTable(of: table)
        coder = StreamCoder(core.context.heldBytes)
        writer = StreamWriter(core, connections, coder)
        let interval = core.context.options.limits.heartbeatInterval.milliseconds
        heartbeatMilliseconds = max(interval - interval / 32, 2) - 1
    }

    /// Sets the sources on another node; call it once.
    func attach(_ remote: RemoteSources?) { self.remote = remote }

    private var context: ServerContext { core.context }
    private var now: UInt64 { core.loop.nowMilliseconds }

    /// Handles the messages of a source, in their order.
    func take(_ messages: [StreamMessage]) {
        for message in messages { take(message) }
    }

    func take(_ message: StreamMessage) {
        switch message {
        case .join(let join): self.join(join)
        case .deliver(let block, let cursor, let group): table.deliver(block, cursor: cursor, to: group)
        case .end(let group, let reason): endGroup(group, because: reason)
        case .refuse(let stream, let error):
            if let connection = connections[stream.connectionID] { refuse(connection, with: error) }
        }
    }

    // MARK: - Joining

    /// Sends a stream the events with which it begins or continues, and puts it into the group or state that its source
    /// chose.
    ///
    /// The answer's head and the first events are one write.
    private func join(_ join: StreamJoin) {
        guard let connection = connections[join.stream.connectionID] else { return disown(join) }
        let now = now
        let known = connection.stream
        // More bytes than may wait for the stream would be cut off in the middle.
        let (bytes, bytesMax) = (join.first.byteCount, core.loop.limits.unsentBytesMax)
        guard bytes <= bytesMax else {
            disown(join)
            return refuse(connection, with: .tooLarge(bytes: bytes, bytesMax: bytesMax))
        }
        let facts = known?.facts ?? newFacts(connection, now, resumesAll: join.resumesAll)
        var head: [UInt8]?
        let isNamed = known == nil || !join.first.head.isEmpty
        let name = isNamed ? name(of: connection, facts).description : ""
        if let known {
            // The guard fails if this join answers a request from before the stream's paths were changed.
            guard known.outside != nil, known.group.source == join.source else { return disown(join) }
        } else {
            if let reason = outdated(facts.credential) {
                disown(join)
                return writer.answerBye(connection, reason)
            }
            guard context.addresses.enter(client(of: connection), owner(connection)) else {
                disown(join)
                return writer.answerBye(connection, .limit)
            }
            guard let begun = writer.begin(connection, named: name, facts) else {
                context.addresses.leave(owner(connection))
                return disown(join)
            }
            context.streams.add(1, ordering: .relaxed)
            head = begun
            count(join)
        }
        let (outcome, tally) = writer.write(join.first, named: name, behind: head, to: connection.id, facts)
        if known == nil { core.transport.resumeReading(connection.id) }
        let action = table.put(connection, join, outcome, text: tally, facts: facts, now: now, coder)
        watch(connection)
        // The stream's join was under way when draining began, so draining has not ended the stream.
        if known == nil, core.isDraining { return close(connection, because: .draining) }
        if action == .ask { ask(connection) }
    }

    /// The reason for which a new stream does not begin; nil if nothing has changed for its caller.
    ///
    /// A revocation or a reload while the stream's join was under way has not found the stream, because it had none.
    private func outdated(_ credential: StreamCredential?) -> StreamTurnedAway? {
        guard let identity = credential?.identity else { return nil }
        guard !context.isRevoked(identity) else { return .revoked }
        // After a reload the client comes back, and is decided by the new keys and rules.
        return context.authentication?.hasMade(identity) == false ? .expired : nil
    }

    /// The client of the request under way.
    private func client(of connection: ClientConnection) -> ClientAddress {
        guard let headers = connection.request?.headers else { return ClientAddress(connection.address) }
        return context.doors.client(of: headers, on: connection)
    }

    private func owner(_ connection: ClientConnection) -> StreamAddresses.Owner {
        StreamAddresses.Owner(loop: core.index, connection: connection.id)
    }

    /// Notifies the source that the stream does not join its group: the stream is gone, or follows another source.
    private func disown(_ join: StreamJoin) {
        guard case .group(let group) = join.slot else { return }
        leave(join.source, group: group)
    }

    private func count(_ join: StreamJoin) {
        core.counters.streamOpened(StreamKind(join.source))
        core.counters.streamStarted(join.first.start)
    }

    private func newFacts(_ connection: ClientConnection, _ now: UInt64, resumesAll: Bool) -> OpenStream.Facts {
        let request = connection.request
        return OpenStream.Facts(
            token: UInt64.random(in: .min ... .max),
            opened: WallClock.milliseconds(),
            expires: now + lifetime(),
            credential: request?.identity.map { StreamCredential($0, asked: request?.asked, now: now) },
            seat: request?.seat,
            isCompressed: connection.takesGzip,
            isChunked: connection.takesChunks,
            resumesAll: resumesAll
        )
    }

    private func name(of connection: ClientConnection, _ facts: OpenStream.Facts) -> StreamName {
        StreamName(loop: core.index, connection: connection.id, token: facts.token, node: context.node)
    }

    /// The configured lifetime, up to a fifth shorter or longer, in milliseconds.
    ///
    /// Streams that begin at the same moment thus do not all end at the same moment.
    private func lifetime() -> UInt64 {
        let milliseconds = context.options.limits.streamLifetime.milliseconds
        return UInt64.random(in: milliseconds * 4 / 5...milliseconds * 6 / 5)
    }

    // MARK: - Refusing

    /// True if the server has room for one more stream, and for its first events.
    var hasRoom: Bool {
        context.streams.load(ordering: .relaxed) < context.options.limits.streamsMax && !context.holdsTooMuch
    }

    /// Answers a request for a stream that cannot be served, or ends an open stream that cannot get its missed changes.
    private func refuse(_ connection: ClientConnection, with error: StreamError) {
        guard connection.stream == nil else {
            if let remote, remote.asksAgain(connection.id, after: error) { return }
            return close(connection, because: error.end)
        }
        switch error.answer {
        case .bye(let reason): writer.answerBye(connection, reason)
        case .response(let response): connections.answer(connection, response)
        }
    }

    /// Answers a request for a stream for which there is no room.
    func answerFull(_ id: ConnectionID) {
        if let connection = connections[id] { writer.answerBye(connection, .limit) }
    }

    /// Answers a request for a stream of a caller that has used its quota.
    ///
    /// The client comes back after these seconds, or up to a fifth later.
    func answerLimited(_ id: ConnectionID, seconds: Int) {
        guard let connection = connections[id] else { return }
        let milliseconds = seconds * 1_000
        writer.answerBye(connection, .limit, after: Int.random(in: milliseconds...milliseconds * 6 / 5))
    }

    // MARK: - Writing

    /// Ends the turn: closes stalled connections if too many bytes are held, and writes the groups' events.
    ///
    /// A turn makes a limited number of writes.
    ///
    /// - Returns: True if there is more to write.
    func endTurn() -> Bool {
        if context.holdsTooMuch, now >= nextShedding {
            nextShedding = now + Self.sheddingInterval
            shed()
            // The next search needs a turn, and nothing else may cause one.
            core.loop.schedule(after: .milliseconds(Int(Self.sheddingInterval))) {}
        }
        let hasMore = flush()
        hasFlushedSingle = false
        return hasMore
    }

    /// Writes the groups' events, as much as a turn allows; true if there is more.
    func flush() -> Bool {
        guard table.hasUnwritten else { return false }
        var budget = Self.writesPerTurnMax
        let slow = table.flush(
            to: core.transport,
            now: now,
            budget: &budget,
            bytesMax: context.options.limits.unsentBytesMax,
            coder
        )
        let written = table.takeWritten()
        core.counters.delivered(events: written.events, bytes: written.bytes)
        for id in slow {
            if let stream = connections[id]?.stream { fallBehind(stream) }
        }
        return table.hasUnwritten
    }

    /// Writes the events of a single stream before the answer to the request that caused them.
    ///
    /// With many streams, answers go first, so that they do not wait for thousands of writes. A single stream and an
    /// answer delay each other equally, and the only subscriber of a session is often the client that dispatches. This
    /// happens once in a turn: the turn's later events are written together.
    func flushSingle() {
        guard table.hasUnwrittenForOne, !hasFlushedSingle else { return }
        hasFlushedSingle = true
        _ = flush()
    }

    /// Takes a slow consumer out of its group; it gets one merged change when its socket has room.
    private func fallBehind(_ stream: OpenStream) {
        guard table.update(stream, { $0.didFallBehind() }) == .leaveGroup,
            let leaver = table.takeOut(stream, as: stream.state)
        else { return }
        core.counters.streamFellBehind()
        leave(leaver)
    }

    /// Continues after the kernel has taken everything that was written to a connection.
    func didDrain(_ connection: ClientConnection) {
        guard let stream = connection.stream else { return }
        switch table.update(stream, { $0.didDrain() }) {
        case .writeRest: table.writeRest(stream, to: core.transport, coder)
        case .ask: ask(connection)
        case .nothing, .leaveGroup: break
        }
    }

    // MARK: - Subscribing

    /// Asks for the changes after a stream's cursor.
    func ask(_ connection: ClientConnection) {
        guard let stream = connection.stream, let outside = stream.outside else { return }
        subscribe(
            StreamSubscription(
                stream: StreamID(loop: core.index, connection.id),
                source: stream.group.source,
                // The cursor of a store's stream is empty if the stream has received nothing. For an empty cursor the
                // source sends all items, because the stream may have missed more than the latest event.
                resume: outside.isRepathed ? nil : outside.cursor,
                stood: outside.isRepathed ? outside.cursor : nil,
                reason: outside.reason,
                resumesAll: outside.isPaging,
                isMasked: stream.facts.credential?.asked != nil,
                isCompressed: stream.facts.isCompressed,
                isOpen: true
            )
        )
    }

    /// Makes streams ask again, because their source has changed or events for them were lost.
    func loseSources(_ isLost: (OpenStream, ConnectionID) -> Bool) {
        for connection in table.all {
            guard let stream = connection.stream, isLost(stream, connection.id) else { continue }
            if table.lose(stream) == .ask { ask(connection) }
        }
    }

    /// Passes a subscription to the loop of its source; the answer is a message.
    func subscribe(_ subscription: StreamSubscription) {
        if let remote, remote.takes(subscription) { return }
        let isPosted =
            switch subscription.source {
            case .session(let key, let topic):
                core.onShard(of: key) { SessionFeeds(server: $0).join(subscription, to: key, topic) }
            case .shared(let shared): core.onLoop(context.loop(of: shared)) { $0.feeds.join(subscription, to: shared) }
            }
        guard !isPosted else { return }
        take(.refuse(subscription.stream, .session(.failed(.overloaded("mailbox of the source's loop")))))
    }

    /// Sets other paths for a stream of a session.
    ///
    /// The stream's next event is a snapshot of these paths or, if there is a reason, a reset.
    func watch(
        _ topic: StreamTopic,
        of key: SessionKey,
        on connection: ClientConnection,
        because reason: ResetReason? = nil
    ) {
        guard let stream = connection.stream else { return }
        let (leaver, action) = table.retarget(stream, to: .session(key, topic), because: reason, now: now)
        if let leaver { leave(leaver) }
        if action == .ask { ask(connection) }
    }

    // MARK: - Times

    /// Visits a stream again when its heartbeat is due or its lifetime is over.
    private func watch(_ connection: ClientConnection) {
        if let stream = connection.stream { connections.watch(connection, until: due(stream)) }
    }

    /// Visits a stream at the times of its new credential.
    func didRenew(_ connection: ClientConnection) { watch(connection) }

    private func due(_ stream: OpenStream) -> UInt64 {
        let own = min(stream.facts.expires, stream.lastTraffic + heartbeatMilliseconds)
        return min(own, stream.facts.credential?.term.due ?? .max)
    }

    /// Sends a comment to a quiet stream, a notice before the end of its credential, and `bye` to an expired one.
    func deadlineDidPass(_ stream: OpenStream, on connection: ClientConnection, now: UInt64) {
        guard due(stream) <= now else { return watch(connection) }
        let credential = stream.facts.credential
        if credential?.term.hasEnded(at: now) == true { return close(connection, because: .tokenExpired) }
        guard stream.facts.expires > now else { return close(connection, because: .expired) }
        defer { watch(connection) }
        // A stream that has not taken everything has bytes on the way already, so it is not quiet.
        guard core.transport.unsentBytes(connection.id) == 0 else {
            credential?.term.delayNotice(until: now + Self.noticeDelay)
            return table.recordWrite(stream, of: nil, now: now)
        }
        if let credential, let rest = credential.term.takeNotice(at: now) {
            return notify(stream, on: connection, of: credential.identity, endingIn: rest)
        }
        let heartbeat = context.heartbeat
        let isCompressed = stream.facts.isCompressed
        let bytes = heartbeat.bytes(isCompressed: isCompressed, isChunked: stream.facts.isChunked)
        let outcome = core.transport.write(connection.id, bytes)
        core.counters.heartbeats(1, bytes: bytes.count)
        table.recordWrite(stream, of: isCompressed ? heartbeat.tally : nil, now: now)
        table.update(stream) { $0.didWrite(outcome) }
    }

    /// Sends the notice that the stream's credential ends in this number of milliseconds.
    private func notify(
        _ stream: OpenStream,
        on connection: ClientConnection,
        of identity: Identity,
        endingIn rest: UInt64
    ) {
        guard let expires = identity.expires else { return }
        let notice = StreamEvent.auth(expires: expires, milliseconds: rest)
        let (outcome, tally) = writer.write(notice, to: connection.id, stream.facts)
        table.recordWrite(stream, of: tally, now: now)
        table.update(stream) { $0.didWrite(outcome) }
    }

    // MARK: - Bounds

    /// Closes a quarter of the connections that take nothing, while the bytes held for all connections exceed their
    /// limit.
    ///
    /// The connections that have taken nothing for longest come first. They do not read, so they get no `bye`. A
    /// connection that has taken bytes in the last ten seconds stays open.
    func shed() {
        guard context.holdsTooMuch else { return }
        let stalled = connections.all.compactMap { connection in
            core.transport.stalledMilliseconds(connection.id).map { (connection, milliseconds: $0) }
        }
        let stuck = stalled.filter { $0.milliseconds >= Self.takingTimeMax }
            .sorted { $0.milliseconds > $1.milliseconds }
        for (connection, _) in stuck.prefix(max(stuck.count / 4, 1)) {
            forget(connection, StreamEnd(.slow))
            core.transport.close(connection.id, .unsentLimit)
        }
    }

    // MARK: - Describing

    /// The connections of all streams of this loop.
    var ids: [ConnectionID] { table.all.map(\.id) }

    /// The streams of this loop, in the order of their connections.
    var descriptions: some Sequence<StreamDescription> { table.all.lazy.compactMap { self.description(of: $0) } }

    /// The stream that a connection carries; nil if it carries none.
    func description(of connection: ClientConnection) -> StreamDescription? {
        guard let stream = connection.stream else { return nil }
        return StreamDescription(
            name: name(of: connection, stream.facts),
            source: stream.group.source,
            opened: stream.facts.opened,
            state: stream.state.phase,
            unsentBytes: core.transport.unsentBytes(connection.id),
            isCompressed: stream.facts.isCompressed
        )
    }

    // MARK: - Ending

    /// Ends streams a few at a time over `drainSpread`, so that their clients do not all return in one moment.
    func endInTurn(_ ids: [ConnectionID], because reason: StreamEvent.ByeReason) {
        let steps = max(Int(context.options.limits.drainSpread / Self.drainStep), 1)
        let count = max((ids.count + steps - 1) / steps, Self.streamsPerDrainStepMin)
        end(ids[...], count: count, because: reason)
    }

    private func end(_ ids: ArraySlice<ConnectionID>, count: Int, because reason: StreamEvent.ByeReason) {
        for id in ids.prefix(count) {
            if let connection = connections[id] { close(connection, because: reason) }
        }
        let rest = ids.dropFirst(count)
        guard !rest.isEmpty else { return }
        core.loop.schedule(after: Self.drainStep) { [self] in end(rest, count: count, because: reason) }
    }

    /// Ends every member of a group; the source has removed the group already.
    private func endGroup(_ id: GroupID, because reason: StreamEvent.ByeReason) {
        for member in table.members(of: id) {
            if let connection = connections[member] { close(connection, because: reason, isCounted: false) }
        }
    }

    /// Ends one stream with a `bye`; `isCounted` is true if its source still counts it as a member.
    func close(_ connection: ClientConnection, because reason: StreamEvent.ByeReason, isCounted: Bool = true) {
        guard let stream = connection.stream else { return }
        let text = StreamWriter.bye(reason)
        // The text is tallied before the stream is removed, because the trailer has to cover it.
        let facts = stream.facts
        if facts.isCompressed { table.recordWrite(stream, of: GzipTally(text.span), now: now) }
        guard let leaver = forget(connection, StreamEnd(reason), isCounted: isCounted) else { return }
        writer.end(connection, with: facts.isCompressed ? coder.independent(text.span) + leaver.trailer : text, facts)
    }

    /// Removes the stream of a connection that is closed or closing; nil if it carries none.
    @discardableResult
    func forget(_ connection: ClientConnection, _ end: StreamEnd, isCounted: Bool = true) -> StreamTable.Leaver? {
        guard let leaver = table.remove(connection) else { return nil }
        context.streams.subtract(1, ordering: .relaxed)
        context.addresses.leave(owner(connection))
        core.counters.streamClosed(StreamKind(leaver.source), end)
        if isCounted { leave(leaver) }
        return leaver
    }

    /// Notifies the source of a stream that the stream left its group.
    private func leave(_ leaver: StreamTable.Leaver) {
        if let group = leaver.group { leave(leaver.source, group: group) }
    }

    private func leave(_ source: StreamSource, group: GroupID) {
        if let remote, remote.takesLeave(group) { return }
        let index = core.index
        switch source {
        case .session(let key, _): core.tell(context.shard(of: key)) { $0.shard.leave(key, group: group, loop: index) }
        case .shared(let shared):
            core.tell(context.loop(of: shared)) { $0.feeds.leave(shared, group: group, loop: index) }
        }
    }
}
