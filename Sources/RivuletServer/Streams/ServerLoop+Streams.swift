// Owns the driving of streams: joining, writing within a turn's budget, falling behind, ending.

import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletSessions
import RivuletStores
import Synchronization

extension ServerLoop {
    /// Source: <Documentation/HTTP.md#change-streams>.
    private static let streamFields = [
        HTTPField("Content-Type", "text/event-stream"),
        HTTPField("Cache-Control", "no-store, no-transform"),
        HTTPField("X-Accel-Buffering", "no"),
        HTTPField("Vary", "Accept-Encoding"),
    ]

    /// The most writes to streams in one turn of the loop: about 2 ms, after which requests have theirs.
    private static var writesPerTurnMax: Int { 256 }

    /// Does what a shard says, in its order.
    func take(_ messages: [StreamMessage]) {
        for message in messages { take(message) }
    }

    func take(_ message: StreamMessage) {
        switch message {
        case .join(let join): self.join(join)
        case .deliver(let block, let cursor, let group): streams.deliver(block, cursor: cursor, to: group)
        case .end(let group, let reason): endGroup(group, because: reason)
        case .refuse(let stream, let refusal): refuseStream(stream.connectionID, with: refusal)
        }
    }

    // MARK: - Joining

    /// Sends a stream what it begins or goes on with, and puts it where its session wants it.
    ///
    /// The answer's head and the first events are one write.
    func join(_ join: StreamJoin) {
        let id = join.stream.connectionID
        let now = loop.nowMilliseconds
        let known = streams[id]
        guard join.first.byteCount <= loop.limits.unsentBytesMax else {
            return refuseTooLarge(join, isKnown: known != nil)
        }
        let facts = known?.facts ?? newFacts(id, now)
        var (head, text): ([UInt8], [UInt8]) = ([], [])
        let isNamed = known == nil || !join.first.head.isEmpty
        let name = isNamed ? StreamName(loop: index, connection: id, token: facts.token).description : ""
        if let known {
            // An answer to a question of before its paths were changed.
            guard known.outside != nil, known.group.source == join.source else { return disown(join) }
        } else {
            guard context.addresses.enter(facts.address) else {
                disown(join)
                return answerFull(id)
            }
            guard let begun = beginStream(id, named: name, facts) else {
                context.addresses.leave(facts.address)
                return disown(join)
            }
            head = begun
            Self.appendOpening(to: &text)
            count(join)
        }
        if !join.first.head.isEmpty {
            text += join.first.head
            text.append(contentsOf: "\"stream\":\"\(name)\",".utf8)
        }
        var tally: GzipTally?
        let outcome: WriteOutcome
        if facts.isCompressed {
            for part in join.first.body { part.append(to: &text) }
            tally = GzipTally(text.span)
            outcome = writeCompressed(text, behind: head, isFirst: known == nil, to: id, facts)
        } else {
            outcome = writePlain(text, join.first.body, behind: head, to: id, facts)
        }
        if known == nil { wire.resumeReading(id) }
        let action = streams.put(id, join, outcome, text: tally, facts: facts, now: now, coder)
        watchStream(id)
        // Its join was under way when the draining began: who was here then is told in turn, and it would be told by nobody.
        if known == nil, isDraining { return closeStream(id, because: .draining) }
        if action == .ask { ask(id) }
    }

    /// Writes a head, if any, and what a stream alone is sent, as one chunk: no event is in two.
    private func writePlain(
        _ text: [UInt8],
        _ body: [SharedBytes],
        behind head: [UInt8],
        to id: ConnectionID,
        _ facts: StreamTable.Facts
    ) -> WriteOutcome {
        let count = body.reduce(text.count) { $0 + $1.count }
        guard facts.isChunked, count > 0 else { return wire.write(id, head + text, body[...]) }
        var head = head
        HTTPChunk.appendHead(count: count, to: &head)
        let blocks = body + [context.chunkTerminator]
        return wire.write(id, head + text, blocks[...])
    }

    /// The same of a compressed stream, whose body begins with the head of gzip.
    private func writeCompressed(
        _ text: [UInt8],
        behind head: [UInt8],
        isFirst: Bool,
        to id: ConnectionID,
        _ facts: StreamTable.Facts
    ) -> WriteOutcome {
        guard !text.isEmpty else { return wire.write(id, head, []) }
        // No other stream shares the block, but what waits for a reader has to be counted.
        let block = coder.block((isFirst ? StreamCompressor.head : []) + coder.independent(text.span))
        return wire.write(id, head, [block.bytes(isChunked: facts.isChunked)])
    }

    /// What a stream begins with, or goes on with, is more than may wait for it: it would be cut off in the middle.
    private func refuseTooLarge(_ join: StreamJoin, isKnown: Bool) {
        disown(join)
        let id = join.stream.connectionID
        if isKnown { return closeStream(id, because: .limit) }
        let (bytes, bytesMax) = (join.first.byteCount, loop.limits.unsentBytesMax)
        let problem = Problem(
            .streamTooLarge,
            "these paths have \(bytes) bytes; a stream is sent at most \(bytesMax) at once: watch fewer"
        )
        answer(id, Response(problem))
    }

    /// A stream that was to join is gone, or follows something else: the group that counts it is to know.
    private func disown(_ join: StreamJoin) {
        guard case .group(let group) = join.place else { return }
        leave(join.source, group: group)
    }

    private func count(_ join: StreamJoin) {
        counters.streamOpened(StreamKind(join.source))
        let resumesAll = connections.update(join.stream.connectionID) { $0.resumesAll } ?? false
        counters.streamStarted(join.first.start ?? (resumesAll ? .all : .merged))
    }

    /// The session of a stream is to know that it left.
    func leave(_ leaver: StreamTable.Leaver) {
        guard let group = leaver.group else { return }
        leave(leaver.source, group: group)
    }

    private func newFacts(_ id: ConnectionID, _ now: UInt64) -> StreamTable.Facts {
        StreamTable.Facts(
            token: UInt64.random(in: .min ... .max),
            opened: WallClock.milliseconds(),
            expires: now + lifetime(),
            address: connections.update(id) { $0.address } ?? PeerAddress.IP(v4: 0),
            isCompressed: connections.update(id) { $0.wantsGzip } ?? false,
            isChunked: isChunked(id)
        )
    }

    /// Begins the answer to the request under way, which is a stream; nil when there is none.
    ///
    /// The head has its name as well: one that resumes has no snapshot that would say it.
    private func beginStream(_ id: ConnectionID, named name: String, _ facts: StreamTable.Facts) -> [UInt8]? {
        // RFC 8288, and RFC 5023 for "edit": where what the answer is of can be changed.
        let fields = Self.streamFields + [HTTPField("Link", "</v1/streams/\(name)>; rel=\"edit\"")]
        guard let head = streamHead(id, fields: fields, isCompressed: facts.isCompressed) else { return nil }
        context.streams.add(1, ordering: .relaxed)
        wire.setStreaming(id)
        return head
    }

    /// A comment, so that the client sees the head, and a reconnection time of 1 to 3 seconds.
    private static func appendOpening(to bytes: inout [UInt8]) {
        ServerSentEvent.append(comment: "", to: &bytes)
        ServerSentEvent.append(retryMilliseconds: Int.random(in: 1_000...3_000), to: &bytes)
    }

    /// The configured lifetime give or take a fifth, in milliseconds, so that streams of one moment do not end in one moment.
    private func lifetime() -> UInt64 {
        let milliseconds = context.options.limits.streamLifetime.milliseconds
        return UInt64.random(in: milliseconds * 4 / 5...milliseconds * 6 / 5)
    }

    /// Answers a request for a stream that cannot be served.
    func refuseStream(_ id: ConnectionID, with refusal: StreamRefusal) {
        if streams[id] != nil {
            return closeStream(id, because: Self.end(after: refusal))
        }
        switch refusal {
        case .failed(.overloaded): answerFull(id)
        case .failed(.draining), .failed(.storage(.unavailable)): answerBye(id, .draining)
        // Soon it is no more, and then another one may begin under its name.
        case .failed(.deleting): answerBye(id, .unavailable)
        case .failed(let error): answer(id, self.refusal(error))
        case .gone: answer(id, Response(.noContent))
        case .full: answerFull(id)
        }
    }

    /// Why a stream ends that could not be given what it missed.
    private static func end(after refusal: StreamRefusal) -> StreamEvent.ByeReason {
        switch refusal {
        case .gone: .deleted
        case .failed(.draining), .failed(.storage(.unavailable)): .draining
        case .failed(.deleting): .unavailable
        case .full, .failed(.overloaded): .limit
        case .failed: .slow
        }
    }

    /// Answers a request for a stream of a store or a value that cannot be served.
    func refuseStream(_ id: ConnectionID, with error: SharedError) {
        if streams[id] != nil { return closeStream(id, because: .slow) }
        switch error {
        case .storage(.closed), .storage(.unavailable): answerBye(id, .draining)
        case .store(.busy): answerFull(id)
        default: answer(id, refusal(error, nil))
        }
    }

    /// An event stream that only says `bye`: a browser never comes back after any other status.
    ///
    /// Source: <Documentation/HTTP.md#change-streams>.
    func answerFull(_ id: ConnectionID) { answerBye(id, .limit) }

    private func answerBye(_ id: ConnectionID, _ reason: StreamTurnedAway) {
        let isChunked = isChunked(id)
        guard let head = streamHead(id, fields: Self.streamFields, isCompressed: false) else { return }
        var text: [UInt8] = []
        Self.appendOpening(to: &text)
        StreamEvent.bye(reason.bye).append(to: &text)
        counters.streamRefused(reason)
        write(head + Self.lastBytes(text, isChunked: isChunked), to: id)
        wire.resumeReading(id)
        closeGently(id)
    }

    // MARK: - Writing

    /// Writes what the groups were sent, as much as a turn allows; true when there is more.
    func flushStreams() -> Bool {
        guard streams.hasUnwritten else { return false }
        var budget = Self.writesPerTurnMax
        let laggards = streams.flush(
            to: wire,
            now: loop.nowMilliseconds,
            budget: &budget,
            bytesMax: context.options.limits.unsentBytesMax,
            coder
        )
        counters.delivered(events: streams.written.events, bytes: streams.written.bytes)
        streams.written = (0, 0)
        for id in laggards { fallBehind(id) }
        return streams.hasUnwritten
    }

    /// Writes what one stream alone is to get before the answer to whoever caused it.
    ///
    /// Answers go first, as they do not have to wait for thousands of writes then. A single stream and an answer wait equally long for each other, and who
    /// watches a session alone is often the one who dispatches. Once in a turn: what comes after it is one write as ever.
    func flushSingleStream() {
        guard streams.hasUnwrittenForOne, !hasFlushedSingle else { return }
        hasFlushedSingle = true
        _ = flushStreams()
    }

    /// Lets a stream go that is given more than it takes: it gets one merged change when its socket has room.
    private func fallBehind(_ id: ConnectionID) {
        guard streams.update(id, { $0.didFallBehind() }) == .leaveGroup, let state = streams.state(of: id),
            let leaver = streams.takeOut(id, as: state)
        else { return }
        counters.streamFellBehind()
        leave(leaver)
    }

    /// The kernel has taken all that was written to a stream.
    func streamDidDrain(_ id: ConnectionID) {
        switch streams.update(id, { $0.didDrain() }) {
        case .writeRest: streams.writeRest(id, to: wire, coder)
        case .ask: ask(id)
        case .nothing, .leaveGroup, nil: break
        }
    }

    /// Asks for what came after the place where a stream stands.
    func ask(_ id: ConnectionID) {
        guard let known = streams[id], let outside = known.outside else { return }
        let stream = Exchange(loop: index, connection: id).stream
        switch known.group.source {
        case .session(let key, let topic):
            let request = StreamRequest(
                stream: stream,
                topic: topic,
                resume: outside.isRepathed ? nil : outside.cursor,
                stood: outside.isRepathed ? outside.cursor : nil,
                resumesAll: outside.isPaging
            )
            subscribe(request, to: key)
        case .shared(let key):
            // Without a cursor it has had nothing; the latest event alone would not do by now, and so it gets everything.
            subscribe(SharedStreamRequest(stream: stream, key: key, resume: outside.cursor))
        }
    }

    // MARK: - Bounds

    /// Closes streams that hold most when all of them hold more than they may.
    ///
    /// They do not read, so a last word would not reach them.
    func shedStreams() {
        guard context.heldBytes.bytes > context.options.limits.heldBytesMax else { return }
        let stuck = streams.ids.filter { wire.unsentBytes($0) > 0 }
            .sorted { (streams[$0]?.lastWrite ?? 0) < (streams[$1]?.lastWrite ?? 0) }
        for id in stuck.prefix(max(stuck.count / 4, 1)) {
            forgetStream(id, .slow)
            wire.close(id, .unsentLimit)
        }
    }

    // MARK: - Ending

    /// Ends every member of a group; their session has forgotten it already.
    private func endGroup(_ id: GroupID, because reason: StreamEvent.ByeReason) {
        for member in streams.members(of: id) { closeStream(member, because: reason, isCounted: false) }
    }

    /// Ends one stream with a last word; `isCounted` is whether its session counts it still.
    func closeStream(_ id: ConnectionID, because reason: StreamEvent.ByeReason, isCounted: Bool = true) {
        let text = Self.text(of: .bye(reason))
        guard let facts = streams[id]?.facts else { return }
        // Counted while it is still known: the trailer has to cover it.
        let isCompressed = facts.isCompressed
        if isCompressed { streams.noteWrite(id, of: GzipTally(text.span), now: loop.nowMilliseconds) }
        guard let leaver = forgetStream(id, StreamEnd(reason), isCounted: isCounted) else { return }
        let last = isCompressed ? coder.independent(text.span) + leaver.trailer : text
        write(Self.lastBytes(last, isChunked: facts.isChunked), to: id)
        closeGently(id)
    }

    /// The end of a body: what a stream is sent last and, of a chunked one, the last chunk.
    ///
    /// Nothing else writes the last chunk, so that without it the body is cut off for its reader.
    private static func lastBytes(_ content: [UInt8], isChunked: Bool) -> [UInt8] {
        guard isChunked else { return content }
        var bytes: [UInt8] = []
        HTTPChunk.append(content, to: &bytes)
        return bytes + HTTPChunk.end
    }

    private static func text(of event: StreamEvent) -> [UInt8] {
        var bytes: [UInt8] = []
        event.append(to: &bytes)
        return bytes
    }

    /// Forgets a stream whose connection is gone or going; nil when it was none.
    @discardableResult
    func forgetStream(_ id: ConnectionID, _ end: StreamEnd, isCounted: Bool = true) -> StreamTable.Leaver? {
        guard let leaver = streams.remove(id) else { return nil }
        context.streams.subtract(1, ordering: .relaxed)
        context.addresses.leave(leaver.address)
        counters.streamClosed(StreamKind(leaver.source), end)
        if isCounted { leave(leaver) }
        return leaver
    }

    private func leave(_ source: StreamSource, group: GroupID) {
        let index = index
        switch source {
        case .session(let key, _): onShard(of: key) { $0.shard.leave(key, group: group, loop: index) }
        case .shared(let key): onLoop(context.loop(of: key)) { $0.leaveShared(key, group: group, loop: index) }
        }
    }
}

extension Duration {
    /// Whole milliseconds, 0 for negative times.
    var milliseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(clamping: seconds) * 1_000 + UInt64(clamping: attoseconds / 1_000_000_000_000_000)
    }
}
