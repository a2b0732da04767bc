import Logging
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions
import RivuletStores

/// Those who follow one store or value, as the loop that feeds them has them.
struct SharedGroup {
    let id: GroupID
    let feed: any SharedFeed
    /// How many there are on each loop.
    var members: [Int: Int] = [:]
}

/// A wish to follow a store or a value.
struct SharedStreamRequest: Sendable {
    let stream: StreamID
    let key: SharedKey
    /// Where the reader stands, as it says; nil for a fresh one.
    let resume: String?
}

extension ServerLoop {
    // MARK: - Joining

    /// GET of a store's `events` or a value's `changes`.
    func openSharedStream(_ key: SharedKey, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        switch key.kind {
        case .store: _ = try store(key)
        case .value: _ = try value(key)
        }
        let query = try Query(request, known: ["cursor"])
        try checkStream(request, on: exchange.connection)
        guard hasRoomForStream else { return answerFull(exchange.connection) }
        let resume = request.lastEventID ?? query["cursor"]
        subscribe(SharedStreamRequest(stream: exchange.stream, key: key, resume: resume))
    }

    /// Hands the wish to the loop that feeds the streams.
    func subscribe(_ request: SharedStreamRequest) {
        onLoop(context.loop(of: request.key)) { $0.join(request) }
    }

    private func join(_ request: SharedStreamRequest) {
        guard !isDraining else { return refuse(request, .storage(.closed)) }
        do throws(Problem) {
            switch request.key.kind {
            case .store:
                let store = try store(request.key)
                // Whether one who comes back has missed anything is known only when the items are there.
                guard request.resume != nil else { return follow(request) { store.makeFeed(wake: $0) } }
                store.load(following(request) { store.makeFeed(wake: $0) })
            case .value:
                // A feed has the value; the first time it has to be read.
                let value = try value(request.key)
                value.read(following(request) { value.makeFeed(wake: $0) })
            }
        } catch {
            refuse(request, .fault(error.detail))
        }
    }

    /// What follows when there is something to follow.
    private func following<Value: Sendable>(
        _ request: SharedStreamRequest,
        _ makeFeed: @escaping @Sendable (_ wake: @escaping @Sendable () -> Void) -> any SharedFeed
    ) -> SharedReply<Value> {
        let confined = Confined(self, to: loop)
        return { result in
            confined.post { loop in
                switch result {
                case .success: loop.follow(request, makeFeed)
                case .failure(let error): loop.refuse(request, error)
                }
            }
        }
    }

    private func follow(
        _ request: SharedStreamRequest,
        _ makeFeed: (_ wake: @escaping @Sendable () -> Void) -> any SharedFeed
    ) {
        // The server may have begun to drain while it was read.
        guard !isDraining else { return refuse(request, .storage(.closed)) }
        let (key, confined) = (request.key, Confined(self, to: loop))
        let epoch = context.epoch(of: key)
        var group =
            sharedGroups[key]
            ?? SharedGroup(id: context.makeGroupID(), feed: makeFeed { confined.post { $0.feed(key) } })
        do throws(SharedError) {
            let start = SharedCursor.start(of: request.resume, epoch: epoch)
            let take = try group.feed.take(joining: start)
            deliver(take.events, to: group, epoch)
            group.members[request.stream.loop, default: 0] += 1
            sharedGroups[key] = group
            let join = StreamJoin(
                stream: request.stream,
                place: .group(group.id),
                source: .shared(key),
                first: FirstEvents(
                    head: [],
                    body: bytes(of: take.first, epoch).map { [SharedBytes($0, account: context.heldBytes)] } ?? [],
                    start: StreamStart(start)
                ),
                cursor: Self.cursor(take.version, epoch) ?? ""
            )
            onLoop(request.stream.loop) { $0.join(join) }
        } catch {
            if group.members.isEmpty { group.feed.close() }
            refuse(request, error)
        }
    }

    private func refuse(_ request: SharedStreamRequest, _ error: SharedError) {
        onLoop(request.stream.loop) { $0.refuseStream(request.stream.connectionID, with: error) }
    }

    // MARK: - Feeding

    /// Takes what is there, to everybody who follows.
    private func feed(_ key: SharedKey) {
        guard let group = sharedGroups[key] else { return }
        do throws(SharedError) {
            deliver(try group.feed.take(joining: nil).events, to: group, context.epoch(of: key))
        } catch {
            context.logger.error(
                "a store that is followed cannot be read",
                metadata: ["app": "\(key.app)", "store": "\(key.name)", "error": "\(LogText.of(error))"]
            )
            end(group, of: key, because: .unavailable)
        }
    }

    private func deliver(_ events: [SharedEvent], to group: SharedGroup, _ epoch: String) {
        guard let last = events.last, let bytes = bytes(of: events, epoch) else { return }
        let block = StreamBlock(bytes.span, account: context.heldBytes)
        let cursor = Self.cursor(last.version, epoch) ?? ""
        for index in group.members.keys {
            onLoop(index) { $0.take(.deliver(block, cursor: cursor, group: group.id)) }
        }
    }

    /// Renders the events; nil for none.
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

    /// Notes that a loop has one member less.
    func leaveShared(_ key: SharedKey, group id: GroupID, loop index: Int) {
        guard var group = sharedGroups[key], group.id == id, let count = group.members[index] else { return }
        group.members[index] = count > 1 ? count - 1 : nil
        if group.members.isEmpty {
            group.feed.close()
            sharedGroups[key] = nil
        } else {
            sharedGroups[key] = group
        }
    }

    /// Feeds the streams of stores and values no more; the loops where they live end them.
    func endSharedStreams() {
        for group in sharedGroups.values { group.feed.close() }
        sharedGroups = [:]
    }

    private func end(_ group: SharedGroup, of key: SharedKey, because reason: StreamEvent.ByeReason) {
        group.feed.close()
        sharedGroups[key] = nil
        for index in group.members.keys { onLoop(index) { $0.take(.end(group.id, reason)) } }
    }
}
