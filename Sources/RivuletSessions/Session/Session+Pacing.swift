// Owns how groups with an interval are told what changed, when their time has come.

import RivuletEngine
import RivuletObservation

extension Session {
    /// Whether the group is told now of what its members saw change; otherwise it is told with what follows.
    func isDue(_ id: GroupID) -> Bool {
        guard let isDue = groups[id]?.pace?.note(at: environment.uptime(), from: positionBefore) else { return true }
        if !isDue { scheduleTick(of: id) }
        return isDue
    }

    /// Makes a stream that has got `first` a member of its group, or lets it wait for what its members wait for.
    func place(_ stream: StreamID, in id: GroupID, first: [StreamEvent]) -> StreamPlace {
        let hasGotChange = first.contains { $0.name == .change }
        let now = environment.uptime()
        let isMember = groups[id]?.pace?.join(stream, at: now, position: visiblePosition, hasGotChange: hasGotChange)
        guard isMember == false else {
            groups[id]?.add(loop: stream.loop)
            return .group(id)
        }
        waitingStreams += 1
        scheduleTick(of: id)
        return .waiting
    }

    private func scheduleTick(of id: GroupID) {
        guard let delay = groups[id]?.pace?.nextTick(at: environment.uptime()) else { return }
        ticks.insert(id)
        environment.schedule(delay) { [weak self] in self?.tickDidFire(of: id) }
    }

    private func tickDidFire(of id: GroupID) {
        ticks.remove(id)
        guard !isRetired, !hasEndedStreams, let key = groups[id]?.key else { return }
        let now = environment.uptime()
        groups[id]?.pace?.tickDidFire()
        let pending = groups[id]?.pace?.takePending(at: now)
        // Told before the others join: their own change leads them to the same place.
        var isTold = false
        if let pending, let event = change(after: pending, for: key), let loops = groups[id]?.loops, !loops.isEmpty {
            environment.sink.deliver(event, to: id, loops: loops)
            isTold = true
        }
        let waiting = groups[id]?.pace?.takeWaiting(at: now) ?? []
        if join(waiting, to: id, of: key) { isTold = true }
        if isTold { groups[id]?.pace?.didSend(at: now) }
        scheduleTick(of: id)
        forgetGroupIfEmpty(id)
        account()
    }

    /// Makes waiting streams members; true: some of them were told something.
    @discardableResult
    private func join(_ waiting: [StreamPace.Waiting], to id: GroupID, of key: StreamGroupKey) -> Bool {
        var events: [Cursor.Position: StreamEvent?] = [:]
        var isTold = false
        for stream in waiting {
            let event = events[stream.position] ?? change(after: stream.position, for: key)
            events[stream.position] = .some(event)
            if event != nil { isTold = true }
            waitingStreams -= 1
            groups[id]?.add(loop: stream.stream.loop)
            environment.sink.join(
                stream.stream,
                at: .group(id),
                session: self.key,
                topic: key.topic,
                first: event.map { [$0] } ?? [],
                cursor: visibleCursor(of: key)
            )
        }
        return isTold
    }

    /// Makes all waiting streams members, so that they can be ended like these.
    func joinAllWaiting() {
        for id in Array(groups.keys) {
            guard let key = groups[id]?.key, let waiting = groups[id]?.pace?.takeAllWaiting() else { continue }
            join(waiting, to: id, of: key)
        }
    }

    /// What leads a member from a place of this residence to the present; nil: nothing.
    private func change(after position: Cursor.Position, for key: StreamGroupKey) -> StreamEvent? {
        let index = key.view.map { views[$0]?.index } ?? self.index
        let missed = index?.changes(after: position) ?? [MissedChange(path: "")]
        let (document, cursor) = (document(of: key.view), visibleCursor(of: key))
        guard let changes = key.paths.changes(missing: missed, in: document) else {
            return .reset(of: document, at: key.paths, cursor: cursor, reason: .placesUnknown)
        }
        return changes.isEmpty ? nil : .change(changes, for: key, from: nil, to: document, cursor: cursor)
    }
}
