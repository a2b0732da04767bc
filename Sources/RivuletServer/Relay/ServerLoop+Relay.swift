import RivuletEventLoop
import RivuletSessions

/// The owner's side of the relay: subscriptions of other nodes' streams to the sources of this loop.
extension ServerLoop {
    /// Performs requests of the streams of a remote loop, in order.
    func take(_ requests: [RelayRequest], from index: Int) {
        for request in requests {
            switch request {
            case .ask(let number, let topic):
                subscribe(topic.subscription(of: StreamID(loop: index, connection: number)))
            case .leave(let source, let group, let count):
                for _ in 0..<count { leave(source, group, loop: index) }
            }
        }
    }

    private func subscribe(_ subscription: StreamSubscription) {
        switch subscription.source {
        case .session(let key, let topic):
            guard context.apps[key.app] != nil else {
                // The build of the other node has an app that this build does not have.
                let stream = subscription.stream
                return outbox.send(.refuse(stream, .session(.failed(.notFound(key)))), to: stream.loop)
            }
            SessionFeeds(server: self).join(subscription, to: key, topic)
        case .shared(let shared): feeds.join(subscription, to: shared)
        }
    }

    /// Removes a member from a group of this loop's sources.
    func leave(_ source: RelaySource, _ group: GroupID, loop index: Int) {
        switch source {
        case .session(let key): shard.leave(key, group: group, loop: index)
        case .shared(let shared): feeds.leave(shared, group: group, loop: index)
        }
    }

    /// Removes all streams of a node after the end of its channel.
    func dropLoops(ofSlot slot: Int) {
        shard.dropLoops { RemoteLoop.slot(of: $0) == slot }
        feeds.dropLoops { RemoteLoop.slot(of: $0) == slot }
    }

    /// Sends a turn's messages to the loops of another node, as one batch unless they are many.
    func send(_ messages: [(loop: Int, message: StreamMessage)], toSlot slot: Int) {
        guard let relay = context.relay else { return }
        var batch = RelayBatchWriter()
        var isOpen = true
        for (loop, message) in messages {
            guard let event = event(of: message, for: RemoteLoop.index(slot: slot, loop: loop)) else { continue }
            batch.add(event, for: loop)
            guard batch.isFull else { continue }
            isOpen = isOpen && relay.send(batch.bytes, to: slot)
            batch = RelayBatchWriter()
        }
        if !batch.isEmpty { isOpen = isOpen && relay.send(batch.bytes, to: slot) }
        guard !isOpen else { return }
        // The members of the slot are dropped, but a stream that has just joined may have come later than that.
        for case (let loop, .join(let join)) in messages { disown(join, RemoteLoop.index(slot: slot, loop: loop)) }
    }

    /// The event of a message; too many first bytes become a refusal, as on the stream's own node.
    private func event(of message: StreamMessage, for index: Int) -> RelayEvent? {
        guard case .join(let join) = message else { return RelayEvent(message) }
        let (bytes, bytesMax) = (join.first.byteCount, core.loop.limits.unsentBytesMax)
        guard bytes > bytesMax else { return RelayEvent(message) }
        disown(join, index)
        return .refuse(ask: join.stream.connection, RelayRefusal(.tooLarge(bytes: bytes, bytesMax: bytesMax)))
    }

    private func disown(_ join: StreamJoin, _ index: Int) {
        if case .group(let group) = join.slot { leave(RelaySource(join.source), group, loop: index) }
    }
}
