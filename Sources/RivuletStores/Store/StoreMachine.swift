import DequeModule
import OrderedCollections
package import RivuletBase

/// A store as a state machine: requests and answers go in, ``next()`` returns the action to carry out.
///
/// Requests go to the storage in the order in which they were made. Several go at a time, so that they share one fsync.
/// After the storage has answered, the machine carries the requests out one after the other, in the same order.
package struct StoreMachine<Item: StorableItem>: Sendable {
    /// The next action of the thread that drives the store.
    enum Action: Sendable {
        /// Read the collection; the answer goes to ``loaded(_:)``.
        case load
        /// Make changes; the answer goes to ``answered(_:with:)``.
        case commit([ItemChange], number: UInt64)
        /// Notify callers and subscribers.
        case announce(Announcement)
    }

    /// The result of a request or a load, with its receivers.
    struct Announcement: Sendable {
        /// True if the items have changed.
        var changesItems = false
        var deliveries: [StoreSubscribers<Item>.Delivery] = []
        var replies: [StoreReply] = []
        var result: Result<StoreOutcome, any Error>
        /// The contents before the request, if they take long to free; the driver frees them after the replies.
        var earlier: EarlierContents<Item>?
    }

    private enum Phase {
        /// The collection must be read: at the start, and if the outcome of a failed write is unknown.
        ///
        /// An error means that a read has failed. The next request starts another read.
        case unloaded((any Error)?)
        /// The state while the collection is being read.
        case loading
        /// The state after the collection was read.
        case loaded(Result<StoreContents<Item>, any Error>)
        /// The contents are known, and requests go to the storage.
        case open
    }

    private struct Commit {
        let request: StoreRequest<Item>
        var result: Result<Void, ItemStorageError>?
    }

    let limits: StoreLimits
    private var phase = Phase.unloaded(nil)
    private var isDriven = false
    /// True if the items have been read.
    package private(set) var hasLoaded = false
    package private(set) var contents = StoreContents<Item>()
    package private(set) var version: UInt64 = 0
    private var waiting: Deque<StoreRequest<Item>> = []
    private var requestBytes = 0
    private var loadReplies: [StoreReply] = []
    private var commits: Deque<Commit> = []
    private var firstCommit: UInt64 = 0
    /// The number of bytes of keys and documents in the commits.
    private var commitBytes = 0
    /// True if the last commit must run alone, because it replaces documents that cannot be read.
    private var isLastCommitAlone = false
    /// The keys of the documents that cannot be read.
    package private(set) var damagedKeys: Set<ByteText> = []
    /// The first event of a new subscriber; nil means `loaded` with the present items.
    private var latest: StoreUpdate<Item>?
    private var history: StoreHistory<Item>
    private var subscribers: StoreSubscribers<Item>

    init(limits: StoreLimits) {
        self.limits = limits
        latest = StoreUpdate(version: 0, event: StoreEvent(operation: .initialized, items: []), byteCount: 0)
        history = StoreHistory(
            eventsMax: limits.historyEventsMax,
            itemsMax: limits.historyItemsMax,
            bytesMax: limits.historyBytesMax
        )
        subscribers = StoreSubscribers(
            eventsMax: limits.subscriberEventsMax,
            itemsMax: limits.subscriberItemsMax,
            bytesMax: limits.subscriberBytesMax
        )
    }

    /// Creates a store that has items from the start.
    init(limits: StoreLimits, contents: StoreContents<Item>) {
        self.init(limits: limits)
        replaceContents(with: contents)
        (phase, hasLoaded) = (.open, true)
    }
}

// MARK: - Inputs

extension StoreMachine {
    /// Accepts a request.
    ///
    /// - Throws: ``StoreError/busy(detail:)`` if the request is refused.
    mutating func ask(_ request: StoreRequest<Item>) throws(StoreError) {
        try checkRoom()
        let bytes = request.bytes
        guard requestBytes == 0 || requestBytes + bytes <= limits.requestBytesMax else {
            throw .busy(detail: "\(requestBytes) bytes wait for the storage; the limit is \(limits.requestBytesMax)")
        }
        requestBytes += bytes
        waiting.append(request)
    }

    /// Returns the result of the first read of the collection if it is known, or passes it to `reply` later.
    mutating func askForLoad(_ reply: @escaping StoreReply) throws(StoreError) -> Result<StoreOutcome, any Error>? {
        hasLoaded ? .success(StoreOutcome(version: version)) : try askForContents(reply)
    }

    /// Returns the result of the latest load if it is known, or passes it to `reply` later.
    ///
    /// A load can also follow a failed write with an unknown outcome.
    mutating func askForContents(_ reply: @escaping StoreReply) throws(StoreError) -> Result<StoreOutcome, any Error>? {
        switch phase {
        case .open: return .success(StoreOutcome(version: version))
        case .unloaded(let error?): return .failure(error)
        case .unloaded, .loading, .loaded: break
        }
        try checkRoom()
        loadReplies.append(reply)
        return nil
    }

    /// The number of requests that are not carried out yet.
    var requestCount: Int { waiting.count + commits.count }

    private func checkRoom() throws(StoreError) {
        guard requestCount + loadReplies.count < limits.requestsMax else {
            throw .busy(detail: "\(limits.requestsMax) requests wait for the storage")
        }
    }

    /// Accepts the result of a read.
    mutating func loaded(_ result: Result<StoreContents<Item>, any Error>) {
        guard case .loading = phase else { return }
        phase = .loaded(result)
    }

    /// Accepts the storage's answer to a commit.
    mutating func answered(_ number: UInt64, with result: Result<Void, ItemStorageError>) {
        guard number >= firstCommit, number - firstCommit < UInt64(commits.count) else { return }
        commits[Int(number - firstCommit)].result = result
    }
}

// MARK: - Actions

extension StoreMachine {
    /// Returns true if the caller must carry out the actions of ``next()`` until it returns nil.
    ///
    /// Otherwise another thread is already carrying them out.
    mutating func beginDriving() -> Bool {
        if isDriven { return false }
        isDriven = true
        return true
    }

    /// Returns the next action, for the thread that drives the store.
    mutating func next() -> Action? {
        if let result = commits.first?.result {
            let request = commits.removeFirst().request
            firstCommit += 1
            requestBytes -= request.bytes
            commitBytes -= request.bytes
            return .announce(carryOut(request, after: result))
        }
        switch phase {
        case .unloaded(let error) where commits.isEmpty && (error == nil || !waiting.isEmpty):
            phase = .loading
            return .load
        case .loaded(let result): return .announce(open(with: result))
        case .open: if let action = nextRequest() { return action }
        default: break
        }
        isDriven = false
        return nil
    }

    private mutating func nextRequest() -> Action? {
        guard let request = waiting.first, commits.count < limits.commitsMax else { return nil }
        let isAlone = request.inserts(anyOf: damagedKeys)
        // The check of the limit is exact only if no other commit is running.
        let mayBeTooMuch = request.hasInsertion && contents.bytes + commitBytes + request.bytes > limits.bytesMax
        guard commits.isEmpty || !(isAlone || isLastCommitAlone || mayBeTooMuch || request.condition != nil) else {
            return nil
        }
        waiting.removeFirst()
        do {
            try request.condition?(contents, version)
            if mayBeTooMuch { try checkRoom(for: request) }
        } catch {
            requestBytes -= request.bytes
            return .announce(Announcement(replies: [request.reply], result: .failure(error)))
        }
        return commit(request, isAlone: isAlone)
    }

    private func checkRoom(for request: StoreRequest<Item>) throws(StoreError) {
        let bytes = request.bytesAfter(contents)
        // A request that makes the store smaller is accepted even if the store exceeds its limit.
        if bytes > limits.bytesMax, bytes > contents.bytes { throw .full(limitBytes: limits.bytesMax) }
    }

    private mutating func commit(_ request: StoreRequest<Item>, isAlone: Bool) -> Action {
        let number = firstCommit + UInt64(commits.count)
        commits.append(Commit(request: request))
        commitBytes += request.bytes
        isLastCommitAlone = isAlone
        guard isAlone else { return .commit(request.changes, number: number) }
        // On disk a key keeps its position, but the position of a damaged item is unknown here. A removal before the
        // write makes the new item the last one, on disk as in memory.
        let changes = request.changes.flatMap { change in
            guard case .put(let key, _) = change, damagedKeys.contains(ByteText(key)) else { return [change] }
            return [.remove(key: key), change]
        }
        return .commit(changes, number: number)
    }

    private mutating func carryOut(
        _ request: StoreRequest<Item>,
        after result: Result<Void, ItemStorageError>
    ) -> Announcement {
        var outcome = StoreOutcome(version: version)
        var announcement = Announcement(replies: [request.reply], result: .success(outcome))
        switch result {
        case .success:
            if contents.hasList || request.removesAll { announcement.earlier = EarlierContents(contents) }
            for step in request.steps {
                let update = update(of: step)
                carryOut(step, &outcome)
                guard let update else { continue }
                announcement.changesItems = true
                version = update.version
                publish(update, into: &announcement)
            }
            outcome.version = version
            announcement.result = .success(outcome)
        case .failure(let error):
            announcement.result = .failure(error)
            if case .indeterminate = error, case .open = phase { phase = .unloaded(nil) }
        }
        return announcement
    }

    private mutating func carryOut(_ step: PreparedStep<Item>, _ outcome: inout StoreOutcome) {
        let damageCount = contents.damaged.count
        switch step.removal {
        case .keys(let keys): outcome.removed += contents.remove(keys)
        case .all:
            outcome.removed += contents.count
            contents = StoreContents<Item>()
        }
        // Documents that could not be read have been removed as well.
        outcome.removed += damageCount - contents.damaged.count
        for (index, element) in step.insertion.enumerated() {
            let isThere = contents.put(element.value, under: element.key, size: step.sizes[index])
            if isThere { outcome.replaced += 1 } else { outcome.inserted += 1 }
        }
        contents.forgetDamage(of: step.insertion.keys)
        if contents.damaged.count < damageCount { damagedKeys = contents.damagedKeys }
    }

    /// Returns the update of a step; nil if the step changes nothing.
    private func update(of step: PreparedStep<Item>) -> StoreUpdate<Item>? {
        guard let event = event(of: step) else { return nil }
        var update = StoreUpdate(version: version + 1, event: event, byteCount: byteCount(of: step))
        switch (step.event, step.removal) {
        case (.insertion, .keys(let keys)): update.removed = keys.compactMap { contents[$0] }
        case (.insertion, .all): update.removesAll = true
        default: break
        }
        return update
    }

    /// Returns the number of bytes of the keys and documents in the update of a step.
    private func byteCount(of step: PreparedStep<Item>) -> Int {
        switch (step.event, step.removal) {
        case (.insertion, .all): step.sizes.reduce(0, +)
        case (_, .keys(let keys)): step.sizes.reduce(0, +) + keys.reduce(0) { $0 + (contents.size(of: $1) ?? 0) }
        case (_, .all): contents.bytes
        }
    }

    private func event(of step: PreparedStep<Item>) -> StoreEvent<Item>? {
        switch (step.event, step.removal) {
        case (.insertion, _): StoreEvent(operation: .insert, items: step.insertion.values.elements)
        case (.removal(let items), _): StoreEvent(operation: .remove, items: items)
        case (.removalOfPresent, .keys(let keys)):
            // A document that cannot be read is not an item, but its removal also changes the store.
            if keys.contains(where: { contents[$0] != nil || damagedKeys.contains($0) }) {
                StoreEvent(operation: .remove, items: keys.compactMap { contents[$0] })
            } else {
                nil
            }
        case (.emptying, _), (.removalOfPresent, .all): StoreEvent(operation: .remove, items: contents.list)
        }
    }

    private mutating func publish(_ update: StoreUpdate<Item>, into announcement: inout Announcement) {
        latest = update
        history.appendMakingRoom(for: update)
        subscribers.publish(update, into: &announcement.deliveries)
    }

    private mutating func open(with result: Result<StoreContents<Item>, any Error>) -> Announcement {
        var announcement = Announcement(replies: loadReplies, result: .success(StoreOutcome(version: version)))
        loadReplies = []
        switch result {
        case .success(let found):
            // Each version belongs to one list of items, and a second read may give another list.
            if hasLoaded { version += 1 }
            (phase, hasLoaded) = (.open, true)
            replaceContents(with: found)
            announcement.changesItems = true
            subscribers.publish(everything, into: &announcement.deliveries)
        case .failure(let error):
            phase = .unloaded(error)
            announcement.result = .failure(error)
            announcement.replies += waiting.map(\.reply)
            waiting = []
            requestBytes = 0
        }
        return announcement
    }

    private mutating func replaceContents(with found: StoreContents<Item>) {
        contents = found
        damagedKeys = found.damagedKeys
        history.removeAll()
        // The `loaded` event is made on demand. An event that is kept here would hold the items, and the next insert
        // would have to copy them.
        latest = nil
    }
}

// MARK: - Subscribers

extension StoreMachine {
    /// The present items as one update.
    package var everything: StoreUpdate<Item> { contents.update(version: version) }

    /// The number of subscribers of the store.
    var subscriberCount: Int { subscribers.count }

    /// Adds a subscriber that gets the latest event first, then every later one.
    mutating func subscribe() -> UInt64 { subscribers.add(first) }

    /// Requests a subscriber's next update.
    mutating func nextUpdate(
        of subscriber: UInt64,
        reply: @escaping StoreUpdateReply<Item>
    ) -> StoreSubscribers<Item>.Delivery? {
        let (contents, version) = (contents, version)
        return subscribers.next(of: subscriber, everything: contents.update(version: version), reply: reply)
    }

    /// Adds a subscriber that gets every later event, and is woken when updates wait for it.
    package mutating func follow(_ wake: @escaping @Sendable () -> Void) -> UInt64 { subscribers.add(waking: wake) }

    /// Takes all waiting updates of a subscriber; nil if it fell behind, so that it must get all items instead.
    package mutating func takeUpdates(of subscriber: UInt64) -> [StoreUpdate<Item>]? {
        subscribers.take(of: subscriber)
    }

    /// The first update of a new subscriber.
    package var first: StoreUpdate<Item> { latest ?? everything }

    /// Returns the updates after a version; nil if they are no longer in the history.
    package func missed(since seen: UInt64) -> [StoreUpdate<Item>]? {
        if seen == version { return [] }
        return seen < version ? history.updates(after: seen).map(Array.init) : nil
    }

    /// Ends a subscription.
    package mutating func unsubscribe(_ subscriber: UInt64) -> [StoreSubscribers<Item>.Delivery] {
        subscribers.remove(subscriber)
    }
}
