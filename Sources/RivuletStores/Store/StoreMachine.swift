import DequeModule
import OrderedCollections

/// A store as a state machine: requests and answers go in, ``next()`` says what is to be done.
///
/// Requests go to the storage in the order in which they were asked for, several at a time, so that one fsync serves many; they
/// are carried out here, one after the other, in that same order, when the storage has answered.
package struct StoreMachine<Item: StorableItem>: Sendable {
    /// What the one who drives the store does next.
    enum Action: Sendable {
        /// Read the collection; the answer goes to ``loaded(_:)``.
        case load
        /// Make changes; the answer goes to ``answered(_:with:)``.
        case commit([ItemChange], number: UInt64)
        /// Tell others.
        case announce(Announcement)
    }

    /// Who has to hear of something that has been done.
    struct Announcement: Sendable {
        /// Whether other items are there than before.
        var changesItems = false
        var deliveries: [StoreSubscribers<Item>.Delivery] = []
        var replies: [StoreReply] = []
        var result: Result<StoreOutcome, any Error>
    }

    private enum Phase {
        /// The collection has to be read: at the start, and when nobody knows what a failed write left behind.
        ///
        /// With an error it was tried; it is tried again for the next request.
        case unloaded((any Error)?)
        /// The state while the collection is being read.
        case loading
        /// The state when it was read.
        case loaded(Result<StoreContents<Item>, any Error>)
        /// The state while requests are made.
        case open
    }

    private struct Commit {
        let request: StoreRequest<Item>
        var result: Result<Void, ItemStorageError>?
    }

    let limits: StoreLimits
    private var phase = Phase.unloaded(nil)
    private var isDriven = false
    /// Whether the items have been read.
    package private(set) var hasLoaded = false
    package private(set) var contents = StoreContents<Item>()
    package private(set) var version: UInt64 = 0
    private var waiting: Deque<StoreRequest<Item>> = []
    private var requestBytes = 0
    private var loadReplies: [StoreReply] = []
    private var commits: Deque<Commit> = []
    private var firstCommit: UInt64 = 0
    /// The bytes of keys and documents in these.
    private var commitBytes = 0
    /// Whether the last commit goes by itself: what it means depends on what is there.
    private var isLastCommitAlone = false
    /// The keys under which something lies that cannot be read.
    package private(set) var damagedKeys: Set<ItemKey> = []
    /// The event that a new subscriber gets first; nil: `loaded`, with the items that are there.
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

    /// A store that holds items from the start.
    init(limits: StoreLimits, contents: StoreContents<Item>) {
        self.init(limits: limits)
        replaceContents(with: contents)
        (phase, hasLoaded) = (.open, true)
    }
}

// MARK: - What comes in

extension StoreMachine {
    /// Takes a request.
    ///
    /// - Throws: ``StoreError/busy(detail:)``; the request is not taken.
    mutating func ask(_ request: StoreRequest<Item>) throws(StoreError) {
        try checkRoom()
        let bytes = request.bytes
        guard requestBytes == 0 || requestBytes + bytes <= limits.requestBytesMax else {
            throw .busy(detail: "\(requestBytes) bytes wait for the storage, of \(limits.requestBytesMax)")
        }
        requestBytes += bytes
        waiting.append(request)
    }

    /// Tells when the collection was read for the first time: at once, or later by `reply`.
    mutating func askForLoad(_ reply: @escaping StoreReply) throws(StoreError) -> Result<StoreOutcome, any Error>? {
        hasLoaded ? .success(StoreOutcome(version: version)) : try askForContents(reply)
    }

    /// Tells when the contents are what the storage has: at once, or later by `reply`, also when the collection is read again, as
    /// nobody knows what a failed write left behind.
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

    /// How many requests are not carried out yet.
    var requestCount: Int { waiting.count + commits.count }

    private func checkRoom() throws(StoreError) {
        guard requestCount + loadReplies.count < limits.requestsMax else {
            throw .busy(detail: "\(limits.requestsMax) requests wait for the storage")
        }
    }

    /// Takes what was read.
    mutating func loaded(_ result: Result<StoreContents<Item>, any Error>) {
        guard case .loading = phase else { return }
        phase = .loaded(result)
    }

    /// Takes the storage's answer to a commit.
    mutating func answered(_ number: UInt64, with result: Result<Void, ItemStorageError>) {
        guard number >= firstCommit, number - firstCommit < UInt64(commits.count) else { return }
        commits[Int(number - firstCommit)].result = result
    }
}

// MARK: - What goes out

extension StoreMachine {
    /// Whether the caller has to do what ``next()`` says, until that is nil; otherwise another one is at it.
    mutating func beginDriving() -> Bool {
        if isDriven { return false }
        isDriven = true
        return true
    }

    /// What is to be done next, by the one who drives.
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
        // Whether it has room is certain only when nothing else is under way.
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
        // What makes it smaller is welcome in a store that has too much already.
        if bytes > limits.bytesMax, bytes > contents.bytes { throw .full(limitBytes: limits.bytesMax) }
    }

    private mutating func commit(_ request: StoreRequest<Item>, isAlone: Bool) -> Action {
        let number = firstCommit + UInt64(commits.count)
        commits.append(Commit(request: request))
        commitBytes += request.bytes
        isLastCommitAlone = isAlone
        guard isAlone else { return .commit(request.changes, number: number) }
        // On disk a key keeps its place. Nobody sees that of a damaged item, so the new one comes last, there as here.
        let changes = request.changes.flatMap { change in
            guard case .put(let key, _) = change, damagedKeys.contains(ItemKey(key)) else { return [change] }
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
            outcome.removed += contents.items.count
            contents = StoreContents<Item>()
        }
        // What could not be read has gone as well.
        outcome.removed += damageCount - contents.damaged.count
        for (index, element) in step.insertion.enumerated() {
            let isThere = contents.put(element.value, under: element.key, size: step.sizes[index])
            if isThere { outcome.replaced += 1 } else { outcome.inserted += 1 }
        }
        contents.forgetDamage(of: step.insertion.keys)
        if contents.damaged.count < damageCount { damagedKeys = contents.damagedKeys }
    }

    /// What will be told of a step; nil: nothing, for it changes nothing.
    private func update(of step: PreparedStep<Item>) -> StoreUpdate<Item>? {
        guard let event = event(of: step) else { return nil }
        var update = StoreUpdate(version: version + 1, event: event, byteCount: byteCount(of: step))
        switch (step.event, step.removal) {
        case (.insertion, .keys(let keys)): update.removed = keys.compactMap { contents.items[$0] }
        case (.insertion, .all): update.removesAll = true
        default: break
        }
        return update
    }

    /// The bytes of the items that are told of.
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
            // What cannot be read is no item, but without it the store is another one too.
            if keys.contains(where: { contents.items[$0] != nil || damagedKeys.contains($0) }) {
                StoreEvent(operation: .remove, items: keys.compactMap { contents.items[$0] })
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
            // A version names one list of items: what was read again may be another one.
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
        // Made when somebody asks: held here, the items would have to be copied for the next insert.
        latest = nil
    }
}

// MARK: - Subscribers

extension StoreMachine {
    /// All items as they are.
    package var everything: StoreUpdate<Item> {
        StoreUpdate(
            version: version,
            event: StoreEvent(operation: .loaded, items: contents.list),
            byteCount: contents.bytes
        )
    }

    /// How many follow the store.
    var subscriberCount: Int { subscribers.count }

    /// Adds a subscriber that gets the latest event first, then every later one.
    mutating func subscribe() -> UInt64 { subscribers.add(first) }

    /// Asks for a subscriber's next update.
    mutating func nextUpdate(
        of subscriber: UInt64,
        reply: @escaping StoreUpdateReply<Item>
    ) -> StoreSubscribers<Item>.Delivery? {
        subscribers.next(of: subscriber, everything: everything, reply: reply)
    }

    /// Adds a subscriber that gets every later event, and is woken when there is one to take.
    package mutating func follow(_ wake: @escaping @Sendable () -> Void) -> UInt64 { subscribers.add(waking: wake) }

    /// Takes all that waits for a subscriber; nil: it fell behind, and gets all items instead.
    package mutating func takeUpdates(of subscriber: UInt64) -> [StoreUpdate<Item>]? {
        subscribers.take(of: subscriber)
    }

    /// What one gets first who comes now.
    package var first: StoreUpdate<Item> { latest ?? everything }

    /// What one has missed who has seen the store at a version; nil when it is gone.
    package func missed(since seen: UInt64) -> [StoreUpdate<Item>]? {
        if seen == version { return [] }
        return seen < version ? history.updates(after: seen).map(Array.init) : nil
    }

    /// Ends a subscription.
    package mutating func unsubscribe(_ subscriber: UInt64) -> [StoreSubscribers<Item>.Delivery] {
        subscribers.remove(subscriber)
    }
}
