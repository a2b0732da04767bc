import RivuletBase
import RivuletEngine
import RivuletObservation

/// The changes that a reader missed, collected while storage reads the log part by part.
private struct LogResume {
    let subscriber: Subscriber
    /// The last version of the log that is in `missed`.
    var version: UInt64
    /// The version up to which the log is read.
    let end: UInt64
    /// The position of this incarnation at `end`; later changes are in the incarnation's index.
    let origin: Cursor.Position
    /// The changes up to `version`, and changes that are in no log.
    var missed: [MissedChange]
    /// The changes between `end` and `origin`.
    var later: [MissedChange] = []
}

extension Session {
    func resume(_ subscriber: Subscriber, from cursor: Cursor) {
        guard cursor.epoch == standing.visibleEpoch else { return reset(subscriber, .epochChanged) }
        guard cursor.position.version <= standing.position.version else { return reset(subscriber, .unknownCursor) }
        let isSameIncarnation = cursor.incarnation == standing.incarnation
        guard !isSameIncarnation || cursor.position <= standing.position else {
            return reset(subscriber, .unknownCursor)
        }
        if subscriber.request.resumesAll { return resumeAll(subscriber, from: cursor) }
        resumeMerged(subscriber, from: cursor)
    }

    /// Sends all changes after the cursor as one change.
    func resumeMerged(_ subscriber: Subscriber, from cursor: Cursor) {
        if let view = subscriber.key.view {
            return join(subscriber, missed: missed(of: view, after: cursor))
        }
        let index = streams.stateHistory.index
        guard cursor.incarnation != standing.incarnation else {
            return join(subscriber, missed: index.changes(after: cursor.position))
        }
        // The log has the changes of transient fields by durable events. Changes of transient fields by transient
        // events are in no log.
        let missed = notLogged(before: cursor)
        let version = cursor.position.version
        if cursor.incarnation != nil, version <= index.start.version {
            let (end, origin) = (index.start.version, index.start)
            readLog(LogResume(subscriber: subscriber, version: version, end: end, origin: origin, missed: missed))
        } else {
            // The cursor names no incarnation, or an incarnation with versions that storage has lost since. It is then
            // unknown which changes of the present incarnation the reader has.
            var resume = LogResume(
                subscriber: subscriber,
                version: version,
                end: standing.position.version,
                origin: standing.position,
                missed: missed
            )
            // Changes of stored fields by transient events since the last entry are in no log.
            resume.later = standing.unlogged.map(MissedChange.init)
            readLog(resume)
        }
    }

    /// The changes that a reader is sent in addition to the log's changes after its cursor.
    func notLogged(before cursor: Cursor) -> [MissedChange] {
        var missed = state.transientPaths.map(MissedChange.init(path:))
        // The log does not show which unlogged changes the reader has, or which of them a restart has lost.
        if cursor.hasUnlogged { missed.append(MissedChange(path: "")) }
        return missed
    }

    /// Adds a stream that begins with one change in place of the `missed` changes.
    ///
    /// A work thread writes the change of a large state.
    private func join(_ subscriber: Subscriber, missed: some Sequence<MissedChange>) {
        let (key, missed, cursor) = (subscriber.key, Array(missed), standing.cursor(of: subscriber.key))
        guard key.view == nil else {
            let document = streams.document(of: key.view, standing)
            return join(subscriber, first: key.makingUp(for: missed, in: document, at: cursor), from: cursor)
        }
        let held = state.held(standing.state)
        work(bytes: machine.headSize.bytes) {
            key.makingUp(for: missed, in: held.document(), at: cursor)
        } then: { session, first in
            session.join(subscriber, first: first, from: cursor)
        }
    }

    /// Adds a stream that begins with `first`, which leads up to `cursor`, and continues with the events after
    /// `cursor`.
    ///
    /// If `first` is nil, it is unknown which values the stream has to drop, and the stream begins with a reset.
    private func join(_ subscriber: Subscriber, first: [StreamEvent]?, from cursor: Cursor) {
        let stream = subscriber.request.stream
        if let leavingStreamError { return streams.refuse(stream, with: leavingStreamError) }
        guard let first, let rest = streams.events(after: cursor, for: subscriber.key, standing) else {
            return reset(subscriber, .placesUnknown)
        }
        join(subscriber, first: first + rest)
    }

    /// Reads the missed part of the log; changes during the read are added after it.
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
        // Storage may answer with a part of the entries. The rest is requested next.
        if resume.version < resume.end { resume.missed = resume.missed.unique }
        readLog(resume)
    }

    private func finish(_ resume: LogResume) {
        let later = streams.stateHistory.index.changes(after: resume.origin)
        join(resume.subscriber, missed: resume.missed + resume.later + later)
    }

    /// The changes of a view that a reader missed.
    ///
    /// The log has no changes of views. A reader with a cursor of another incarnation, or from before the view was
    /// watched, gets all its watched values again.
    private func missed(of view: String, after cursor: Cursor) -> [MissedChange] {
        guard cursor.incarnation == standing.incarnation, let history = streams.history(of: view) else {
            return [MissedChange(path: "")]
        }
        return history.index.changes(after: cursor.position)
    }

    /// Requests data from storage for a stream; refuses the stream if too many streams read logs already.
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

    /// Continues with a stream, or refuses it if the session accepts no streams or if the result or `body` fails.
    func take<Value>(
        _ result: Result<Value, some Error>,
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

extension StreamGroupKey {
    /// The change that makes up for the missed changes; nil if it is unknown which values the stream has to drop.
    ///
    /// The result is empty if the values at the watched paths have not changed.
    fileprivate func makingUp(
        for missed: [MissedChange],
        in document: ReadableDocument,
        at cursor: Cursor
    ) -> [StreamEvent]? {
        guard let changes = paths.changes(missing: missed, in: document) else { return nil }
        return changes.isEmpty ? [] : [.change(changes, for: self, from: nil, to: document, cursor: cursor)]
    }
}
