import RivuletBase
import RivuletEngine

extension Session {
    /// Adds a subscriber; the answer goes through the sink.
    package func subscribe(_ request: StreamRequest) {
        recordUse()
        if let error = leavingError { return streams.refuse(request.stream, with: .failed(error)) }
        guard !streams.isFull else { return streams.refuse(request.stream, with: .full) }
        if let view = request.topic.view, !streams.watch(view, standing) {
            return streams.refuse(request.stream, with: .failed(.noView(view)))
        }
        let subscriber = Subscriber(request: request, key: StreamGroupKey(request.topic))
        guard let text = request.resume else {
            return begin(subscriber, because: request.reason)
        }
        guard let cursor = Cursor(text) else { return reset(subscriber, .unknownCursor) }
        // An EventSource reconnects with the URL with which it was opened, even if the paths of its stream have changed
        // since.
        guard subscriber.key.suits(cursor), !request.isMasked || cursor.paths != nil else {
            // A cursor that names no paths may be of a time when the caller could read more.
            return reset(subscriber, request.isMasked ? .permissionsChanged : .pathsChanged)
        }
        resume(subscriber, from: cursor)
    }

    /// The reason that the session accepts no streams; nil if it accepts them.
    var leavingError: SessionError? {
        do throws(SessionError) {
            try machine.admit()
            return streams.hasEnded ? .draining : nil
        } catch {
            return error
        }
    }

    /// Removes one stream of an event loop from a group.
    package func leave(_ group: GroupID, loop: Int) {
        recordUse()
        if streams.leave(group, loop: loop) { account() }
    }

    /// Removes all streams on these loops of a node that is gone.
    func dropLoops(_ isDropped: (_ loop: Int) -> Bool) {
        guard streams.dropLoops(isDropped) else { return }
        recordUse()
        account()
    }

    func tickDidFire(of group: GroupID) {
        guard !machine.isRetired else { return }
        if streams.tickDidFire(of: group, standing) { account() }
    }

    func join(_ subscriber: Subscriber, first: [StreamEvent]) {
        streams.join(subscriber, first: first, standing)
        account()
    }

    func reset(_ subscriber: Subscriber, _ reason: ResetReason) { begin(subscriber, because: reason) }

    /// Adds a stream that begins with a snapshot, or with a reset if there is a reason for one.
    private func begin(_ subscriber: Subscriber, because reason: ResetReason? = nil) {
        write(streams.begin(subscriber, because: reason, standing, stateBytes: machine.headSize.bytes))
        account()
    }

    /// Writes a snapshot on a work thread; does nothing if `writing` is nil.
    private func write(_ writing: SnapshotWriting?) {
        guard let writing else { return }
        let give = { (session: Session, event: StreamEvent) in session.give(event, of: writing) }
        if writing.pausesSession {
            workOnHead(bytes: .max, { writing.write() }, then: give)
        } else {
            work({ writing.write() }, then: give)
        }
    }

    private func give(_ event: StreamEvent, of writing: SnapshotWriting) {
        switch streams.didWrite(event, of: writing, standing, error: leavingStreamError) {
        case .nothing: break
        case .more:
            // The session stays paused until all waiting streams have joined, so that the snapshot stays current.
            if writing.pausesSession { machine.pause() }
            environment.schedule(.milliseconds(1)) { [self] in
                if writing.pausesSession { machine.resume() }
                give(event, of: writing)
                goOn()
            }
        case .again(let writing): write(writing)
        }
        account()
    }

    /// The error for streams that waited while the session ended; nil if the session accepts streams.
    var leavingStreamError: SessionStreamError? { isDeleted ? .gone : leavingError.map { .failed($0) } }
}
