// Owns who watches a session: joining, and what each group sees.

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
            let cursor = visibleCursor(of: subscriber.key)
            return join(subscriber, first: [.snapshot(of: document, at: paths, cursor: cursor)])
        }
        guard let cursor = Cursor(text) else { return reset(subscriber, .unknownCursor) }
        // An EventSource comes back with the URL that it was opened with, whatever its stream has watched since.
        guard subscriber.key.suits(cursor) else { return reset(subscriber, .pathsChanged) }
        resume(subscriber, from: cursor)
    }

    var leavingError: SessionError? {
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
        groups[group] = members
        forgetGroupIfEmpty(group)
        account()
    }

    func forgetGroupIfEmpty(_ id: GroupID) {
        guard let group = groups[id], group.isEmpty else { return }
        groups[id] = nil
        groupIDs[group.key] = nil
        watches.remove(id, group.key)
        ticks.remove(id)
    }

    package func refuseStreams() {
        joinAllWaiting()
        ticks = []
        hasEndedStreams = true
    }

    package func endStreams(because reason: StreamEvent.ByeReason) {
        joinAllWaiting()
        for (id, group) in groups { environment.sink.end(id, because: reason, loops: group.loops) }
        groups = [:]
        groupIDs = [:]
        watches = StreamWatches()
        ticks = []
        streamCount = 0
        hasEndedStreams = true
        account()
    }

    // MARK: - Joining

    func join(_ subscriber: Subscriber, first: [StreamEvent]) {
        let request = subscriber.request
        let id = groupIDs[subscriber.key] ?? environment.makeGroupID()
        if groups[id] == nil { watches.insert(id, subscriber.key) }
        groupIDs[subscriber.key] = id
        if groups[id] == nil { groups[id] = StreamGroup(subscriber.key) }
        let place = place(request.stream, in: id, first: first)
        streamCount += 1
        account()
        environment.sink.join(
            request.stream,
            at: place,
            session: key,
            topic: subscriber.key.topic,
            first: first,
            cursor: visibleCursor(of: subscriber.key)
        )
    }

    func reset(_ subscriber: Subscriber, _ reason: StreamEvent.ResetReason) {
        let (document, paths) = (document(of: subscriber.key.view), subscriber.key.paths)
        let cursor = visibleCursor(of: subscriber.key)
        join(subscriber, first: [.reset(of: document, at: paths, cursor: cursor, reason: reason)])
    }
}
