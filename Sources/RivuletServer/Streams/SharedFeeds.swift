import Logging
import RivuletBase
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions
import RivuletStores

/// Feeds the streams of the stores and values for which one loop is responsible.
///
/// A session feeds its own streams; this type does the same for stores and values. It answers subscriptions by messages
/// to the loops of the streams.
final class SharedFeeds {
    /// The members that follow one store or value.
    private struct Group {
        let id: GroupID
        let feed: any SharedFeed
        /// The number of members on each loop.
        var members: [Int: Int] = [:]
    }

    private let core: LoopCore
    private let outbox: StreamOutbox
    private var groups: [SharedName: Group] = [:]

    init(_ core: LoopCore, _ outbox: StreamOutbox) {
        self.core = core
        self.outbox = outbox
    }

    private var context: ServerContext { core.context }

    // MARK: - Joining

    /// Adds a subscriber, if the store or the value can be read.
    func join(_ subscription: StreamSubscription, to shared: SharedName) {
        guard !core.isDraining else { return refuse(subscription, .storage(.closed)) }
        do throws(Problem) {
            switch shared.kind {
            case .store:
                let store = try core.lookup.store(shared)
                // A subscriber with a cursor may have missed events. The store knows this only when its items are
                // loaded.
                guard subscription.resume != nil else {
                    return follow(shared, subscription) { store.makeFeed(wake: $0) }
                }
                store.load(following(shared, subscription) { store.makeFeed(wake: $0) })
            case .value:
                // A value has to be read before its first feed is made, because a feed begins with the value.
                let value = try core.lookup.value(shared)
                value.read(following(shared, subscription) { value.makeFeed(wake: $0) })
            }
        } catch {
            refuse(subscription, .fault(error.detail))
        }
    }

    /// Returns a closure for the result of a read: it adds the subscriber, or refuses it if the read failed.
    private func following<Value: Sendable>(
        _ shared: SharedName,
        _ subscription: StreamSubscription,
        _ makeFeed: @escaping @Sendable (_ wake: @escaping @Sendable () -> Void) -> any SharedFeed
    ) -> SharedReply<Value> {
        let loopBound = LoopBound(self, to: core.loop)
        return { result in
            loopBound.postReply { feeds in
                switch result {
                case .success: feeds.follow(shared, subscription, makeFeed)
                case .failure(let error): feeds.refuse(subscription, error)
                }
            }
        }
    }

    private func follow(
        _ shared: SharedName,
        _ subscription: StreamSubscription,
        _ makeFeed: (_ wake: @escaping @Sendable () -> Void) -> any SharedFeed
    ) {
        // The server may have begun to drain during the read.
        guard !core.isDraining else { return refuse(subscription, .storage(.closed)) }
        let loopBound = LoopBound(self, to: core.loop)
        let epoch = context.epoch(of: shared)
        var group =
            groups[shared]
            ?? Group(id: context.makeGroupID(), feed: makeFeed { loopBound.postReply { $0.feed(shared) } })
        do throws(SharedError) {
            let start = SharedCursor.start(of: subscription.resume, epoch: epoch)
            let take = try group.feed.take(joining: start)
            deliver(take.events, to: group, epoch)
            group.members[subscription.stream.loop, default: 0] += 1
            groups[shared] = group
            let join = StreamJoin(
                stream: subscription.stream,
                slot: .group(group.id),
                source: .shared(shared),
                first: FirstEvents(
                    head: [],
                    body: bytes(of: take.first, epoch).map { [StreamText($0, account: context.heldBytes)] } ?? [],
                    start: StreamStart(start)
                ),
                cursor: Self.cursor(take.version, epoch) ?? ""
            )
            outbox.send(.join(join), to: subscription.stream.loop)
        } catch {
            if group.members.isEmpty { group.feed.close() }
            refuse(subscription, error)
        }
    }

    private func refuse(_ subscription: StreamSubscription, _ error: SharedError) {
        outbox.send(.refuse(subscription.stream, .shared(error)), to: subscription.stream.loop)
    }

    // MARK: - Feeding

    /// Delivers the new events to all members.
    private func feed(_ shared: SharedName) {
        guard let group = groups[shared] else { return }
        do throws(SharedError) {
            deliver(try group.feed.take(joining: nil).events, to: group, context.epoch(of: shared))
        } catch {
            context.logger.error(
                "a store with open streams cannot be read",
                metadata: ["app": "\(shared.app)", "store": "\(shared.name)", "error": "\(LogText.of(error))"]
            )
            end(group, of: shared, because: .unavailable)
        }
    }

    private func deliver(_ events: [SharedEvent], to group: Group, _ epoch: String) {
        guard let last = events.last, let bytes = bytes(of: events, epoch) else { return }
        let block = StreamBlock(bytes.span, account: context.heldBytes)
        let cursor = Self.cursor(last.version, epoch) ?? ""
        for index in group.members.keys {
            outbox.send(.deliver(block, cursor: cursor, group: group.id), to: index)
        }
    }

    /// Renders the events; nil if there are none.
    private func bytes(of events: [SharedEvent], _ epoch: String) -> [UInt8]? {
        guard !events.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for event in events {
            let id = Self.cursor(event.version, epoch)
            ServerSentEvent.append(event: event.name, id: id, data: event.data.span, to: &bytes)
        }
        return bytes
    }

    private static func cursor(_ version: UInt64?, _ epoch: String) -> String? {
        version.map { "\(SharedCursor(epoch: epoch, version: $0))" }
    }

    // MARK: - Leaving

    /// Records that a loop has one member less.
    func leave(_ shared: SharedName, group id: GroupID, loop index: Int) {
        guard var group = groups[shared], group.id == id, let count = group.members[index] else { return }
        group.members[index] = count > 1 ? count - 1 : nil
        if group.members.isEmpty {
            group.feed.close()
            groups[shared] = nil
        } else {
            groups[shared] = group
        }
    }

    /// Removes all members on these loops of a node that is gone.
    func dropLoops(_ isDropped: (_ loop: Int) -> Bool) {
        for (shared, group) in groups {
            for (index, count) in group.members where isDropped(index) {
                for _ in 0..<count { leave(shared, group: group.id, loop: index) }
            }
        }
    }

    /// Ends all feeds; the loops of the streams end the streams.
    func close() {
        for group in groups.values { group.feed.close() }
        groups = [:]
    }

    private func end(_ group: Group, of shared: SharedName, because reason: StreamEvent.ByeReason) {
        group.feed.close()
        groups[shared] = nil
        for index in group.members.keys { outbox.send(.end(group.id, reason), to: index) }
    }
}
