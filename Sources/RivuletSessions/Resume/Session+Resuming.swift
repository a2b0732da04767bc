import RivuletBase
import RivuletEngine
import RivuletObservation

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
        guard cursor.epoch == standing.visibleEpoch else { return reset(subscriber, .epochChanged) }
        guard cursor.position.version <= standing.position.version else { return reset(subscriber, .unknownCursor) }
        let isSameResidence = cursor.residence == standing.incarnation
        guard !isSameResidence || cursor.position <= standing.position else { return reset(subscriber, .unknownCursor) }
        if subscriber.request.resumesAll { return resumeAll(subscriber, from: cursor) }
        resumeMerged(subscriber, from: cursor)
    }

    /// Gives everything after the cursor as one change.
    func resumeMerged(_ subscriber: Subscriber, from cursor: Cursor) {
        if let view = subscriber.key.view {
            return join(subscriber, missed: missed(of: view, after: cursor))
        }
        let index = streams.stateHistory.index
        guard cursor.residence != standing.incarnation else {
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
                end: standing.position.version,
                origin: standing.position,
                missed: missed
            )
            // What transient events wrote in stored fields since the last entry is in no log.
            resume.later = standing.unlogged.map(MissedChange.init)
            readLog(resume)
        }
    }

    /// What a reader has to be given anew who knows the log up to its cursor, whatever the log has after that.
    func notLogged(before cursor: Cursor) -> [MissedChange] {
        var missed = state.transientPaths.map(MissedChange.init(path:))
        // No log tells which unlogged changes the reader has, nor which of them a restart took back.
        if cursor.hasUnlogged { missed.append(MissedChange(path: "")) }
        return missed
    }

    /// Gives what makes up for `missed` at the watched paths, as one change.
    private func join(_ subscriber: Subscriber, missed: some Sequence<MissedChange>) {
        let (key, document) = (subscriber.key, streams.document(of: subscriber.key.view, standing))
        guard let changes = key.paths.changes(missing: missed, in: document) else {
            return reset(subscriber, .placesUnknown)
        }
        let change = StreamEvent.change(changes, for: key, from: nil, to: document, cursor: standing.cursor(of: key))
        join(subscriber, first: changes.isEmpty ? [] : [change])
    }

    /// Reads what the log has for it; what changes meanwhile is added when the answer is there.
    private func readLog(_ resume: LogResume) {
        guard resume.version < resume.end else { return finish(resume) }
        let limit = environment.limits.resumeVersionsMax
        guard resume.end - resume.version <= UInt64(limit), resume.version + 1 >= log.retained.from else {
            return reset(resume.subscriber, .historyGone)
        }
        askLog(for: resume.subscriber) {
            $0.past.history(key, epoch: standing.epoch, after: resume.version, limit: limit, reply: $1)
        } then: { session, history in
            try session.readOn(resume, history)
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
        let later = streams.stateHistory.index.changes(after: resume.origin)
        join(resume.subscriber, missed: resume.missed + resume.later + later)
    }

    /// What a reader of a view missed.
    ///
    /// No log has a view's changes: a reader of a time before it was watched gets all that it watches anew.
    private func missed(of view: String, after cursor: Cursor) -> [MissedChange] {
        guard cursor.residence == standing.incarnation, let history = streams.history(of: view) else {
            return [MissedChange(path: "")]
        }
        return history.index.changes(after: cursor.position)
    }

    /// Asks storage for a stream, which is refused when too many read logs already.
    func askLog<Answer: Sendable>(
        for subscriber: Subscriber,
        _ question: (_ storage: SessionStorage, _ reply: @escaping StorageReply<Answer>) -> Void,
        then body: @escaping (_ session: Session, _ answer: Answer) throws -> Void
    ) {
        let isAsked = askLog(streams.reads, question) { session, result in
            session.take(result, for: subscriber) { try body(session, $0) }
        }
        if !isAsked { streams.refuse(subscriber.request.stream, with: .full) }
    }

    private func take<Value>(
        _ result: Result<Value, StorageError>,
        for subscriber: Subscriber,
        _ body: (Value) throws -> Void
    ) {
        let stream = subscriber.request.stream
        if let error = leavingError { return streams.refuse(stream, with: .failed(error)) }
        do {
            try body(try result.get())
        } catch let error as StorageError {
            streams.refuse(stream, with: .failed(.storage(error)))
        } catch let error as SessionError {
            streams.refuse(stream, with: .failed(error))
        } catch {
            let error = SessionError.unreadable(key, detail: "the log's changes do not decode: \(error)")
            streams.refuse(stream, with: .failed(error))
        }
    }
}
