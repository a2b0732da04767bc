// Part of Rivulet. See README.md for the architecture.
// Owns how a stream that comes back is given what it missed.

import RivuletEngine
import RivuletObservation

/// A stream that is about to join, or waits for storage.
struct Subscriber {
    let request: StreamRequest
    let key: StreamGroupKey
}

extension Session {
    func resume(_ subscriber: Subscriber, from cursor: Cursor) {
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
        let changes = subscriber.key.paths.changes(missing: missed, in: document(of: subscriber.key.view))
        join(subscriber, first: changes.isEmpty ? [] : [.change(changes, cursor: visibleCursor)])
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
