// Part of Rivulet. See README.md for the architecture.
// Owns the streams of a loop: joining, writing once per turn, falling behind, ending.

import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletSessions
import RivuletStores
import Synchronization

extension ServerLoop {
    /// Source: spec/http.md §4.
    private static let streamFields = [
        HTTPField("Content-Type", "text/event-stream"),
        HTTPField("Cache-Control", "no-store, no-transform"),
        HTTPField("X-Accel-Buffering", "no"),
        HTTPField("X-Content-Type-Options", "nosniff"),
    ]

    // MARK: - Joining

    /// Answers the request with a stream, or, when it has one already and was behind, goes on with it.
    func join(
        _ stream: StreamID,
        group: GroupID,
        source: StreamSource,
        first: [UInt8],
        cursor: String
    ) {
        let id = stream.connectionID
        // What the group was sent before belongs to its members of before.
        flushStreams()
        guard connections.isOpen(id) else { return leave(source, group: group) }
        let now = loop.nowMilliseconds
        let leaver = behind.removeValue(forKey: id)
        if leaver == nil {
            context.streams.add(1, ordering: .relaxed)
            beginStream(id, fields: Self.streamFields)
            loop.setStreaming(id)
            write(Self.opening, to: id)
        }
        if !first.isEmpty { write(first, to: id) }
        let member = leaver?.member ?? StreamTable.Member(connection: id, expires: now + lifetime())
        streams.join(
            member,
            group: group,
            as: StreamTable.Group(source: source, cursor: cursor, lastTraffic: now)
        )
    }

    /// A comment, so that the client sees the head, and a reconnection time of 1 to 3 seconds.
    private static var opening: [UInt8] {
        var bytes: [UInt8] = []
        ServerSentEvent.append(comment: "", to: &bytes)
        ServerSentEvent.append(retryMilliseconds: Int.random(in: 1_000...3_000), to: &bytes)
        return bytes
    }

    /// The configured lifetime give or take a fifth, in milliseconds, so that streams of one moment do not end in one moment.
    private func lifetime() -> UInt64 {
        let milliseconds = context.options.limits.streamLifetime.milliseconds
        return UInt64.random(in: milliseconds * 4 / 5...milliseconds * 6 / 5)
    }

    /// Answers a request for a stream that cannot be served.
    func refuseStream(_ id: ConnectionID, with refusal: StreamRefusal) {
        if behind[id] != nil {
            if case .gone = refusal { return closeStream(id, with: .bye(.deleted, reconnect: false, after: 0)) }
            return endBehind(id)
        }
        switch refusal {
        case .failed(.overloaded): answerFull(id)
        case .failed(.draining), .failed(.storage(.unavailable)):
            answerBye(id, .draining, after: Int.random(in: 500...2_500))
        case .failed(let error): answer(id, self.refusal(error))
        case .gone: answer(id, Response(.noContent))
        case .full: answerFull(id)
        }
    }

    /// Answers a request for a stream of a store or a value that cannot be served.
    func refuseStream(_ id: ConnectionID, with error: SharedError) {
        if behind[id] != nil { return endBehind(id) }
        switch error {
        case .storage(.closed), .storage(.unavailable): answerBye(id, .draining, after: Int.random(in: 500...2_500))
        case .store(.busy): answerFull(id)
        default: answer(id, refusal(error, nil))
        }
    }

    private func endBehind(_ id: ConnectionID) {
        closeStream(id, with: .bye(.slow, reconnect: true, after: Int.random(in: 500...2_500)))
    }

    /// An event stream that only says `bye`: a browser never comes back after any other status.
    ///
    /// Source: spec/http.md §4.
    func answerFull(_ id: ConnectionID) {
        answerBye(id, .limit, after: Int.random(in: 5_000...15_000))
    }

    private func answerBye(_ id: ConnectionID, _ reason: StreamEvent.ByeReason, after milliseconds: Int) {
        beginStream(id, fields: Self.streamFields)
        write(Self.opening, to: id)
        endStream(id, with: .bye(reason, reconnect: true, after: milliseconds))
    }

    // MARK: - Writing

    /// Writes what the groups were sent in this turn: one write per member.
    func flushStreams() {
        for (bytes, members) in streams.takeDirty(now: loop.nowMilliseconds) {
            for member in members { writeEvent(bytes, to: member.connection) }
        }
    }

    private func writeEvent(_ bytes: [UInt8], to id: ConnectionID) {
        guard case .queued(let unsentBytes) = wire.write(id, bytes),
            unsentBytes > context.options.limits.unsentBytesMax
        else { return }
        guard let leaver = streams.leave(id) else { return }
        behind[id] = leaver
        leave(leaver.source, group: leaver.group)
    }

    /// A stream that was behind has room again: it gets one merged change with the current values.
    func catchUp(_ id: ConnectionID) {
        guard let leaver = behind[id] else { return }
        let stream = Exchange(loop: index, connection: id).stream
        switch leaver.source {
        case .session(let key, let topic):
            subscribe(StreamRequest(stream: stream, topic: topic, resume: leaver.cursor), to: key)
        case .shared(let key):
            // Without a cursor it has had nothing; the latest event alone would not do by now, and so it gets everything.
            subscribe(SharedStreamRequest(stream: stream, key: key, resume: leaver.cursor))
        }
    }

    /// Comments for quiet streams, `bye` for those whose time is over.
    func tendStreams() {
        // A group may have got an event in this turn; a member that falls behind by the comment has to have got it.
        flushStreams()
        let now = loop.nowMilliseconds
        let interval = context.options.limits.heartbeatInterval.milliseconds * 2 / 3
        var comment: [UInt8] = []
        ServerSentEvent.append(comment: "", to: &comment)
        for id in streams.takeQuiet(since: now > interval ? now - interval : 0, now: now) {
            writeEvent(comment, to: id)
        }
        for id in streams.expired(at: now) + behind.filter({ $1.member.expires <= now }).keys {
            closeStream(id, with: .bye(.expired, reconnect: true, after: Int.random(in: 0...1_000)))
        }
    }

    // MARK: - Ending

    /// Ends every member of a group; their session has forgotten it already.
    func endGroup(_ id: GroupID, with bye: [UInt8]) {
        flushStreams()
        guard let group = streams.removeGroup(id) else { return }
        for member in group.members {
            context.streams.subtract(1, ordering: .relaxed)
            write(bye, to: member.connection)
            closeGently(member.connection)
        }
    }

    /// Ends one stream with a last word.
    func closeStream(_ id: ConnectionID, with bye: StreamEvent) {
        forgetStream(id)
        endStream(id, with: bye)
    }

    private func endStream(_ id: ConnectionID, with bye: StreamEvent) {
        var bytes: [UInt8] = []
        bye.append(to: &bytes)
        write(bytes, to: id)
        closeGently(id)
    }

    /// Forgets a stream whose connection is gone or going.
    func forgetStream(_ id: ConnectionID) {
        if behind.removeValue(forKey: id) != nil {
            context.streams.subtract(1, ordering: .relaxed)
        } else if let leaver = streams.leave(id) {
            context.streams.subtract(1, ordering: .relaxed)
            leave(leaver.source, group: leaver.group)
        }
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
