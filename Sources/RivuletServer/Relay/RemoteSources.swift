import DequeModule
import RivuletEventLoop
import RivuletSessions

/// The streams of one loop with sources on another node.
///
/// A stream's subscription becomes a request to the owner of the sources, and the answers become the same
/// `StreamMessage`s that a source of this node sends. Open streams that ask for the same share one request, so that
/// thousands of members of a group cost few requests when they have to ask again.
final class RemoteSources {
    /// The place of the sources.
    enum Place: Hashable, Sendable {
        /// No owner is known; requests wait.
        case unknown
        case here
        /// On another node, which is reached by this channel.
        case owner(channel: UInt64)
    }

    /// A request that has no final answer yet.
    private struct Ask {
        let topic: RelayTopic
        /// The connections of the streams that get the answer, if they wait for no other request since.
        var waiters: [ConnectionID]
        var progress = Progress.queued
        /// The number of refusals after which the request was made again.
        var refusals = 0
        let isCompressed: Bool
    }

    private enum Progress {
        /// The state until the request is sent, or while it pauses after a refusal.
        case queued
        case sent
        /// The state while the streams wait for the next change of a group with an interval.
        case waiting
    }

    /// A group of the owner.
    private struct Group {
        /// The id of the group on this loop; the owner's id may be that of another group here.
        let local: GroupID
        let source: RelaySource
        /// The members on this loop.
        var members = 0
        /// The members that the owner counts on this loop.
        var counted = 0
    }

    /// The most requests that wait for their answers.
    ///
    /// It shrinks when messages are lost, because the answers may have been too large for the channel's credit.
    private static let windowMax = 64
    /// The number of refusals of one request after which its open streams end.
    private static let refusalsMax = 60
    /// The time after a refusal until the request is made again.
    private static let refusalPause = Duration.milliseconds(500)
    /// The time in which a new stream gets its answer; after it, the client is told to come back.
    private static let firstAnswerTimeMax = Duration.seconds(10)

    private let core: LoopCore
    private let connections: ConnectionDriver
    private let streams: StreamDriver
    private let relay: StreamRelay

    private var place = Place.unknown
    private var asks: [UInt64: Ask] = [:]
    private var lastAsk: UInt64 = 0
    /// The requests of open streams that further streams can share.
    private var shareable: [RelayTopic: UInt64] = [:]
    /// The request of each stream that waits for one.
    private var askOf: [ConnectionID: UInt64] = [:]
    /// The requests that are to be sent.
    private var queue: Deque<UInt64> = []
    private var sentCount = 0
    private var window = windowMax / 2
    /// The groups by the owner's ids.
    private var groups: [GroupID: Group] = [:]
    /// The owner's ids of the groups by their ids here.
    private var ownerIDs: [GroupID: GroupID] = [:]
    private var leaves: [RelayRequest] = []

    init(_ core: LoopCore, _ connections: ConnectionDriver, _ streams: StreamDriver, _ relay: StreamRelay) {
        (self.core, self.connections, self.streams, self.relay) = (core, connections, streams, relay)
    }

    // MARK: - Asking

    /// Takes a subscription, unless its source is on this node.
    func takes(_ subscription: StreamSubscription) -> Bool {
        guard place != .here else { return false }
        let id = subscription.stream.connectionID
        let topic = RelayTopic(subscription)
        if topic.isOpen, let number = shareable[topic] {
            asks[number]?.waiters.append(id)
            askOf[id] = number
            return true
        }
        lastAsk += 1
        let number = lastAsk
        asks[number] = Ask(topic: topic, waiters: [id], isCompressed: subscription.isCompressed)
        askOf[id] = number
        queue.append(number)
        if topic.isOpen {
            shareable[topic] = number
        } else {
            core.loop.schedule(after: Self.firstAnswerTimeMax) { [weak self] in self?.giveUp(number) }
        }
        return true
    }

    /// Answers new streams that have waited too long; their clients come back.
    private func giveUp(_ number: UInt64) {
        guard let ask = asks[number], ask.progress != .waiting else { return }
        for id in take(waitersOf: ask, number) {
            let error = StreamError.session(.failed(.storage(.unavailable(detail: "no node answers for the session"))))
            streams.take(.refuse(StreamID(loop: core.index, id), error))
        }
        // The answer to a request that was sent is still to come, and may have made a member.
        if ask.progress == .queued { asks[number] = nil }
    }

    /// Takes the streams that wait for a request.
    private func take(waitersOf ask: Ask, _ number: UInt64) -> [ConnectionID] {
        let waiters = ask.waiters.filter { askOf[$0] == number }
        for id in waiters { askOf[id] = nil }
        return waiters
    }

    /// Sends the requests of the turn; called at the end of each turn.
    func flush() {
        guard !queue.isEmpty || !leaves.isEmpty, case .owner(let channel) = place else { return }
        var requests = exchange(&leaves, with: [])
        while sentCount < window, let number = queue.popFirst() {
            guard let ask = asks[number], ask.progress == .queued else { continue }
            asks[number]?.progress = .sent
            sentCount += 1
            requests.append(.ask(number: number, ask.topic))
        }
        if !requests.isEmpty { relay.send(requests, from: core.index, on: channel) }
    }

    // MARK: - Leaving

    /// Records that a stream has left its group, unless the group is one of this node's sources.
    func takesLeave(_ group: GroupID) -> Bool {
        guard let id = ownerIDs[group] else { return false }
        groups[id]?.members -= 1
        leaveIfEmpty(id)
        return true
    }

    private func leaveIfEmpty(_ id: GroupID) {
        guard let group = groups[id], group.members == 0 else { return }
        forget(id)
        leaves.append(.leave(group.source, id, count: group.counted))
    }

    private func forget(_ id: GroupID) {
        if let group = groups.removeValue(forKey: id) { ownerIDs[group.local] = nil }
    }

    // MARK: - Answers

    /// Takes the events of a channel, in order.
    func take(_ events: [RelayEvent], of channel: UInt64) {
        guard place == .owner(channel: channel) else { return }
        for event in events {
            switch event {
            case .join(let number, let slot, let first, let cursor): join(number, slot, first, cursor)
            case .deliver(let block, let cursor, let id):
                guard let group = groups[id] else { continue }
                streams.take(.deliver(block, cursor: cursor, group: group.local))
            case .end(let id, let reason): end(id, because: reason)
            case .refuse(let number, let refusal): refuse(number, refusal)
            }
        }
    }

    private func join(_ number: UInt64, _ slot: StreamSlot, _ first: FirstEvents, _ cursor: String) {
        guard let ask = asks[number] else { return }
        didAnswer(number, ask)
        var localSlot = slot
        switch slot {
        case .waiting: asks[number]?.progress = .waiting
        case .more: asks[number] = nil
        case .group(let id):
            asks[number] = nil
            var group = groups[id] ?? Group(local: core.context.makeGroupID(), source: RelaySource(ask.topic.source))
            group.counted += 1
            // The streams may leave at once, and the group goes with the last of them.
            group.members += 1
            groups[id] = group
            ownerIDs[group.local] = id
            localSlot = .group(group.local)
        }
        let waiters = slot == .waiting ? ask.waiters.filter { askOf[$0] == number } : take(waitersOf: ask, number)
        for id in waiters {
            if case .group(let id) = slot { groups[id]?.members += 1 }
            let join = StreamJoin(
                stream: StreamID(loop: core.index, id),
                slot: localSlot,
                source: ask.topic.source,
                first: first,
                cursor: cursor,
                resumesAll: ask.topic.resumesAll
            )
            streams.take(.join(join))
        }
        if case .group(let id) = slot {
            groups[id]?.members -= 1
            leaveIfEmpty(id)
        }
    }

    private func didAnswer(_ number: UInt64, _ ask: Ask) {
        if shareable[ask.topic] == number { shareable[ask.topic] = nil }
        guard ask.progress == .sent else { return }
        sentCount -= 1
        window = min(window + 1, Self.windowMax)
    }

    /// Ends the members of a group; unless its session was deleted, they ask again instead.
    private func end(_ id: GroupID, because reason: StreamEvent.ByeReason) {
        guard let local = groups[id]?.local else { return }
        forget(id)
        guard reason != .deleted else { return streams.take(.end(local, reason)) }
        streams.loseSources { stream, _ in stream.outside == nil && stream.group.key.id == local }
    }

    private func refuse(_ number: UInt64, _ refusal: RelayRefusal) {
        guard var ask = asks[number] else { return }
        didAnswer(number, ask)
        guard ask.topic.isOpen, refusal.isPassing, ask.refusals < Self.refusalsMax else {
            asks[number] = nil
            for id in take(waitersOf: ask, number) {
                streams.take(.refuse(StreamID(loop: core.index, id), .relayed(refusal)))
            }
            return
        }
        ask.refusals += 1
        ask.progress = .queued
        asks[number] = ask
        if shareable[ask.topic] == nil { shareable[ask.topic] = number }
        core.loop.schedule(after: Self.randomPause()) { [weak self] in
            if self?.asks[number] != nil { self?.queue.append(number) }
        }
    }

    /// Lets an open stream ask again a moment later, if its source on this node cannot serve it now.
    ///
    /// A node that becomes the owner, or waits for its lease, leaves its streams open and silent.
    func asksAgain(_ id: ConnectionID, after error: StreamError) -> Bool {
        if case .relayed = error { return false }
        guard RelayRefusal(error).answer == .bye(.draining), let stream = connections[id]?.stream else { return false }
        core.loop.schedule(after: Self.randomPause()) { [weak self, weak stream] in
            guard let self, let stream, let connection = connections[id], connection.stream === stream else { return }
            if stream.state.phase == .asking { streams.ask(connection) }
        }
        return true
    }

    private static func randomPause() -> Duration { refusalPause + .milliseconds(Int.random(in: 0...500)) }

    // MARK: - Moving

    /// Begins anew with another owner or channel: each stream may have missed events, so all of them ask again.
    ///
    /// A stream gets no event between, because its former group is gone.
    func move(to place: Place, hasLost: Bool = false) {
        self.place = place
        window = hasLost ? max(window / 2, 1) : Self.windowMax / 2
        let (lost, asking, former) = (ownerIDs, askOf, asks)
        (groups, ownerIDs, leaves, askOf, asks, shareable) = ([:], [:], [], [:], [:], [:])
        queue = []
        sentCount = 0
        for (number, ask) in former.sorted(by: { $0.key < $1.key }) {
            guard !ask.topic.isOpen, ask.progress != .waiting else { continue }
            for id in ask.waiters where asking[id] == number { streams.subscribe(subscription(of: ask, id)) }
        }
        streams.loseSources { stream, id in
            stream.outside == nil ? lost[stream.group.key.id] != nil : asking[id] != nil
        }
    }

    private func subscription(of ask: Ask, _ id: ConnectionID) -> StreamSubscription {
        ask.topic.subscription(of: StreamID(loop: core.index, id), isCompressed: ask.isCompressed)
    }
}
