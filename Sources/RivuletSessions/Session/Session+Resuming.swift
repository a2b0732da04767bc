import RivuletEngine
import RivuletObservation

/// A stream that is about to join, or waits for storage.
struct Subscriber {
    let request: StreamRequest
    let key: StreamGroupKey
}

/// What a reader missed, as far as it is known while storage is asked for the log.
private struct LogResume {
    let subscriber: Subscriber
    /// The last version of the log that is in `missed`.
    var version: UInt64
    /// The version where the log need not be read any further.
    let end: UInt64
    /// Where this residence stood at that version: the rest is in its index.
    let origin: Cursor.Position
    /// What changed before `version`, and what has to be given anew whenever it changed.
    var missed: [MissedChange]
    /// What changed between `end` and `origin`.
    var later: [MissedChange] = []
}

extension Session {
    func resume(_ subscriber: Subscriber, from cursor: Cursor) {
        guard cursor.epoch == visibleEpoch else { return reset(subscriber, .epochChanged) }
        guard cursor.position.version <= visiblePosition.version else { return reset(subscriber, .unknownCursor) }
        let isSameResidence = cursor.residence == residence
        guard !isSameResidence || cursor.position <= visiblePosition else { return reset(subscriber, .unknownCursor) }
        if subscriber.request.resumesAll { return resumeAll(subscriber, from: cursor) }
        resumeMerged(subscriber, from: cursor)
    }

    /// Gives everything after the cursor as one change.
    func resumeMerged(_ subscriber: Subscriber, from cursor: Cursor) {
        if let view = subscriber.key.view {
            return join(subscriber, missed: missed(of: view, after: cursor))
        }
        guard cursor.residence != residence else {
            return join(subscriber, missed: index.changes(after: cursor.position))
        }
        // The log has what persisted events changed in transient fields; what transient events did there is in no log.
        let missed = notLogged(before: cursor)
        let version = cursor.position.version
        if cursor.residence != nil, version <= index.start.version {
            let (end, origin) = (index.start.version, index.start)
            readLog(LogResume(subscriber: subscriber, version: version, end: end, origin: origin, missed: missed))
        } else {
            // Without a residence, or with one that has seen versions that storage has lost since, nothing tells where it stands in this one.
            var resume = LogResume(
                subscriber: subscriber,
                version: version,
                end: visiblePosition.version,
                origin: visiblePosition,
                missed: missed
            )
            // What transient events wrote in stored fields since the last entry is in no log.
            resume.later = visibleUnlogged.map(MissedChange.init)
            readLog(resume)
        }
    }

    /// What a reader has to be given anew who knows the log up to its cursor, whatever the log has after that.
    func notLogged(before cursor: Cursor) -> [MissedChange] {
        var missed = State.jsonSchema.transientPaths.map(MissedChange.init(path:))
        // No log tells which unlogged changes the reader has, nor which of them a restart took back.
        if cursor.hasUnlogged { missed.append(MissedChange(path: "")) }
        return missed
    }

    /// Gives what makes up for `missed` at the watched paths, as one change.
    private func join(_ subscriber: Subscriber, missed: some Sequence<MissedChange>) {
        let (key, document) = (subscriber.key, document(of: subscriber.key.view))
        guard let changes = key.paths.changes(missing: missed, in: document) else {
            return reset(subscriber, .placesUnknown)
        }
        let change = StreamEvent.change(changes, for: key, from: nil, to: document, cursor: visibleCursor(of: key))
        join(subscriber, first: changes.isEmpty ? [] : [change])
    }

    /// Reads what the log has for it; what changes meanwhile is added when the answer is there.
    private func readLog(_ resume: LogResume) {
        guard resume.version < resume.end else { return finish(resume) }
        let limit = environment.limits.resumeVersionsMax
        guard resume.end - resume.version <= UInt64(limit), resume.version + 1 >= retained.from else {
            return reset(resume.subscriber, .historyGone)
        }
        let past = environment.storage.past
        askLog(for: resume.subscriber) { [key, epoch] in
            past.history(key, epoch: epoch, after: resume.version, limit: limit, reply: $0)
        } then: { [self] history in
            try readOn(resume, history)
        }
    }

    private func readOn(_ resume: LogResume, _ history: [LogEntry]?) throws {
        guard let history, let last = history.last else { return reset(resume.subscriber, .historyGone) }
        var resume = resume
        for entry in history where entry.version <= resume.end {
            resume.missed += try [StateChange](logJSON: entry.changes).map(MissedChange.init)
        }
        resume.version = min(last.version, resume.end)
        // Storage answers with as much as it likes to hold at once; the rest is asked for again.
        if resume.version < resume.end { resume.missed = resume.missed.unique }
        readLog(resume)
    }

    private func finish(_ resume: LogResume) {
        join(resume.subscriber, missed: resume.missed + resume.later + index.changes(after: resume.origin))
    }

    /// Asks storage for a stream, unless too many do at once; the session stays in memory until the answer is there.
    func askLog<Value: Sendable>(
        for subscriber: Subscriber,
        _ question: (@escaping StorageReply<Value>) -> Void,
        then body: @escaping (Value) throws -> Void
    ) {
        guard environment.resumes.begin() else {
            return environment.sink.refuse(subscriber.request.stream, with: .full)
        }
        resuming += 1
        let confined = Confined((session: self, body: body), to: environment.executor)
        question { result in
            confined.post { (session, body) in
                session.resuming -= 1
                session.environment.resumes.end()
                session.take(result, for: subscriber, body)
            }
        }
    }

    private func take<Value>(
        _ result: Result<Value, StorageError>,
        for subscriber: Subscriber,
        _ body: (Value) throws -> Void
    ) {
        let stream = subscriber.request.stream
        if let error = leavingError { return environment.sink.refuse(stream, with: .failed(error)) }
        do {
            try body(try result.get())
        } catch let error as StorageError {
            environment.sink.refuse(stream, with: .failed(.storage(error)))
        } catch let error as SessionError {
            environment.sink.refuse(stream, with: .failed(error))
        } catch {
            let error = SessionError.unreadable(key, detail: "the log's changes do not decode: \(error)")
            environment.sink.refuse(stream, with: .failed(error))
        }
    }
}
