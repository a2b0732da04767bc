// Part of Rivulet. See README.md for the architecture.
// Owns who watches a session: joining, resuming, and what each group sees.

import RivuletEngine
import RivuletJSON
import RivuletObservation

extension Session {
    package func subscribe(_ request: StreamRequest) {
        lastUsed = environment.uptime()
        if let error = leavingError { return environment.sink.refuse(request.stream, with: .failed(error)) }
        guard streamCount + resuming < environment.limits.streamsPerSessionMax else {
            return environment.sink.refuse(request.stream, with: .full)
        }
        if let view = request.topic.view, !watch(view) {
            return environment.sink.refuse(request.stream, with: .failed(.noView(view)))
        }
        let subscriber = Subscriber(request: request, key: StreamGroupKey(request.topic))
        guard let text = request.resume else {
            let (document, paths) = (document(of: subscriber.key.view), subscriber.key.paths)
            return join(subscriber, first: [.snapshot(of: document, at: paths, cursor: visibleCursor)])
        }
        guard let cursor = Cursor(text) else { return reset(subscriber, .unknownCursor) }
        resume(subscriber, from: cursor)
    }

    private var leavingError: SessionError? {
        do throws(SessionError) {
            try refuseWhenLeaving()
            return hasEndedStreams ? .draining : nil
        } catch {
            return error
        }
    }

    package func leave(_ group: GroupID, loop: Int) {
        lastUsed = environment.uptime()
        guard var members = groups[group] else { return }
        members.remove(loop: loop)
        streamCount -= 1
        groups[group] = members.count > 0 ? members : nil
        if members.count == 0 {
            groupIDs[members.key] = nil
            watches.remove(group, members.key)
        }
        account()
    }

    package func refuseStreams() { hasEndedStreams = true }

    package func endStreams(because reason: StreamEvent.ByeReason) {
        for (id, group) in groups { environment.sink.end(id, because: reason, loops: group.loops) }
        groups = [:]
        groupIDs = [:]
        watches = StreamWatches()
        streamCount = 0
        hasEndedStreams = true
        account()
    }

    // MARK: - Joining

    /// A stream that is about to join, or waits for storage.
    private struct Subscriber {
        let request: StreamRequest
        let key: StreamGroupKey
    }

    private func join(_ subscriber: Subscriber, first: [StreamEvent]) {
        let request = subscriber.request
        let id = groupIDs[subscriber.key] ?? environment.makeGroupID()
        if groups[id] == nil { watches.insert(id, subscriber.key) }
        groupIDs[subscriber.key] = id
        groups[id, default: StreamGroup(subscriber.key)].add(loop: request.stream.loop)
        streamCount += 1
        account()
        environment.sink.join(
            request.stream,
            at: .group(id),
            session: key,
            topic: subscriber.key.topic,
            first: first,
            cursor: visibleCursor
        )
    }

    private func reset(_ subscriber: Subscriber, _ reason: StreamEvent.ResetReason) {
        let (document, paths) = (document(of: subscriber.key.view), subscriber.key.paths)
        join(subscriber, first: [.reset(of: document, at: paths, cursor: visibleCursor, reason: reason)])
    }

    // MARK: - Resuming

    private func resume(_ subscriber: Subscriber, from cursor: Cursor) {
        guard cursor.epoch == visibleEpoch else { return reset(subscriber, .epochChanged) }
        guard cursor.position.version <= visiblePosition.version else { return reset(subscriber, .unknownCursor) }
        let isSameResidence = cursor.residence == residence
        if isSameResidence {
            guard cursor.position <= visiblePosition else { return reset(subscriber, .unknownCursor) }
            if subscriber.key.view == nil, let missed = tail.changes(after: cursor.position) {
                return join(subscriber, missed: missed.lazy.flatMap(\.changes).map(MissedChange.init))
            }
        }
        if let view = subscriber.key.view {
            return join(subscriber, missed: missed(of: view, after: cursor))
        }
        // The log has what persisted events changed in transient fields; what transient events did there is in no log.
        let hasLostTransients = !isSameResidence || cursor.position.transients != visiblePosition.transients
        var stale = hasLostTransients ? State.jsonSchema.transientPaths.map(MissedChange.init(path:)) : []
        // No log tells which unlogged changes the reader has, nor which of them a restart took back.
        if cursor.hasUnlogged { stale.append(MissedChange(path: "")) }
        // What transient events wrote in stored fields since the last entry is in no log either, whichever residence it was.
        let unlogged = visibleUnlogged.map(MissedChange.init)
        resumeFromLog(subscriber, after: cursor.position.version, missed: stale, later: unlogged)
    }

    /// Gives what makes up for `missed` at the watched paths, as one change.
    private func join(_ subscriber: Subscriber, missed: some Sequence<MissedChange>) {
        let (key, document) = (subscriber.key, document(of: subscriber.key.view))
        guard let changes = key.paths.changes(missing: missed, in: document) else {
            return reset(subscriber, .historyGone)
        }
        let change = StreamEvent.change(changes, for: key, from: nil, to: document, cursor: visibleCursor)
        join(subscriber, first: changes.isEmpty ? [] : [change])
    }

    /// Reads the changes that the tail no longer has; what changes meanwhile is added when the answer is there.
    ///
    /// `missed` are those before `version`, `later` those after all that the log has.
    private func resumeFromLog(
        _ subscriber: Subscriber,
        after version: UInt64,
        missed: [MissedChange],
        later: [MissedChange] = []
    ) {
        guard version < visiblePosition.version else { return join(subscriber, missed: missed + later) }
        guard visiblePosition.version - version <= UInt64(environment.limits.resumeVersionsMax),
            version + 1 >= retained.from
        else {
            return reset(subscriber, .historyGone)
        }
        guard environment.resumes.begin() else {
            return environment.sink.refuse(subscriber.request.stream, with: .full)
        }
        resuming += 1
        let asked = visiblePosition
        let confined = Confined(self, to: environment.executor)
        let limit = environment.limits.resumeVersionsMax
        environment.storage.history(key, epoch: epoch, after: version, limit: limit) { history in
            confined.post { session in
                session.resuming -= 1
                session.environment.resumes.end()
                session.finishResume(subscriber, history: history, asked: asked, missed: missed, later: later)
            }
        }
    }

    private func finishResume(
        _ subscriber: Subscriber,
        history: Result<[LogEntry]?, StorageError>,
        asked: Cursor.Position,
        missed: [MissedChange],
        later: [MissedChange]
    ) {
        if let error = leavingError { return environment.sink.refuse(subscriber.request.stream, with: .failed(error)) }
        do {
            guard let entries = try history.get(), let meanwhile = tail.changes(after: asked) else {
                return reset(subscriber, .historyGone)
            }
            let later = later + meanwhile.flatMap(\.changes).map(MissedChange.init)
            var missed = missed
            for entry in entries {
                missed += try [StateChange](logJSON: entry.changes).map(MissedChange.init)
            }
            // Storage answers with as much as it likes to hold at once; the rest is asked for again.
            if let last = entries.last, last.version < asked.version {
                let version = last.version
                return resumeFromLog(subscriber, after: version, missed: missed.unique, later: later.unique)
            }
            guard !entries.isEmpty else { return reset(subscriber, .historyGone) }
            join(subscriber, missed: missed + later)
        } catch let error as StorageError {
            environment.sink.refuse(subscriber.request.stream, with: .failed(.storage(error)))
        } catch {
            let error = SessionError.unreadable(key, detail: "the log's changes do not decode: \(error)")
            environment.sink.refuse(subscriber.request.stream, with: .failed(error))
        }
    }
}
