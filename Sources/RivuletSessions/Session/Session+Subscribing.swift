import RivuletBase
import RivuletEngine

extension Session {
    /// Adds a subscriber; the answer goes through the sink.
    package func subscribe(_ request: StreamRequest) {
        noteUse()
        if let error = leavingError { return streams.refuse(request.stream, with: .failed(error)) }
        guard !streams.isFull else { return streams.refuse(request.stream, with: .full) }
        if let view = request.topic.view, !streams.watch(view, standing) {
            return streams.refuse(request.stream, with: .failed(.noView(view)))
        }
        let subscriber = Subscriber(request: request, key: StreamGroupKey(request.topic))
        guard let text = request.resume else {
            return join(subscriber, first: streams.beginning(of: subscriber.key, standing))
        }
        guard let cursor = Cursor(text) else { return reset(subscriber, .unknownCursor) }
        // An EventSource comes back with the URL that it was opened with, whatever its stream has watched since.
        guard subscriber.key.suits(cursor) else { return reset(subscriber, .pathsChanged) }
        resume(subscriber, from: cursor)
    }

    /// Why the session takes no streams; nil: it does.
    var leavingError: SessionError? {
        do throws(SessionError) {
            try machine.admit()
            return streams.hasEnded ? .draining : nil
        } catch {
            return error
        }
    }

    /// Takes back one membership of that loop.
    package func leave(_ group: GroupID, loop: Int) {
        noteUse()
        if streams.leave(group, loop: loop) { account() }
    }

    func tickDidFire(of group: GroupID) {
        guard !machine.isRetired else { return }
        if streams.tickDidFire(of: group, standing) { account() }
    }

    func join(_ subscriber: Subscriber, first: [StreamEvent]) {
        streams.join(subscriber, first: first, standing)
        account()
    }

    func reset(_ subscriber: Subscriber, _ reason: ResetReason) {
        streams.reset(subscriber, reason, standing)
        account()
    }
}
