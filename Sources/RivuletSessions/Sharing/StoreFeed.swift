import RivuletBase
import RivuletJSON
import RivuletStores
import Synchronization

/// Feeds streams from a store.
///
/// If an event would be too large, the feed sends a `reset` instead. The `reset` has as many items as fit. If items are
/// left out, its `next` is the identifier of the last item that it has.
final class StoreFeed<Item: StorableItem>: SharedFeed {
    private typealias Update = StoreUpdate<Item>

    /// An event to send.
    private enum Entry {
        case event(Update)
        /// All items, for a subscriber that has an outdated list.
        case reset(Update, ResetReason)
    }

    private struct State {
        /// True if subscribers may already have items.
        ///
        /// The next list of all items is then sent as a `reset`.
        var hasLoaded: Bool
        var failure: SharedError?
    }

    private let store: Store<Item>
    private let id: UInt64
    private let state: Mutex<State>

    init(of store: Store<Item>, wake: @escaping @Sendable () -> Void) {
        self.store = store
        let (id, hasLoaded) = store.machine.withLock { ($0.follow(wake), $0.hasLoaded) }
        self.id = id
        state = Mutex(State(hasLoaded: hasLoaded))
        guard !hasLoaded else { return }
        store.whenLoaded { [weak self] result in
            guard case .failure(let error) = result else { return }
            self?.state.withLock { $0.failure = SharedError(error) }
            wake()
        }
    }

    deinit { close() }

    func close() {
        let deliveries = store.machine.withLock { $0.unsubscribe(id) }
        for delivery in deliveries { delivery.make() }
    }

    func take(joining start: SharedStart?) throws(SharedError) -> SharedTake {
        if let failure = state.withLock({ $0.failure }) { throw failure }
        let found = store.machine.withLock { machine in
            (
                waiting: machine.takeUpdates(of: id).map(entries) ?? [loaded(machine.everything, .historyGone)],
                first: start.map { first($0, machine) } ?? [],
                version: machine.hasLoaded ? machine.version : nil
            )
        }
        if let events = render(found.waiting) {
            if let first = render(found.first) {
                return SharedTake(events: events, first: first, version: found.version)
            }
            // If the first events are too large, the new subscriber gets a `reset`. Existing subscribers get no
            // `reset`.
            var take = try take(joining: .lost(.historyGone))
            take.events = events + take.events
            return take
        }
        // An event is too large. A reset with the present items replaces this event and all events that wait with it.
        let late = store.machine.withLock { machine in
            _ = machine.takeUpdates(of: id)
            return Entry.reset(machine.everything, .historyGone)
        }
        let reset = render(late)
        return SharedTake(
            events: [reset],
            first: start == nil ? [] : [reset],
            version: reset.version
        )
    }

    private func entries(_ updates: [Update]) -> [Entry] {
        updates.map { update in update.event.operation == .loaded ? loaded(update, .epochChanged) : .event(update) }
    }

    private func loaded(_ update: Update, _ reason: ResetReason) -> Entry {
        state.withLock { state in
            defer { state.hasLoaded = true }
            return state.hasLoaded ? .reset(update, reason) : .event(update)
        }
    }

    private func first(_ start: SharedStart, _ machine: borrowing StoreMachine<Item>) -> [Entry] {
        guard machine.hasLoaded else { return [.event(machine.first)] }
        let updates: [Update]?
        switch start {
        case .lost(let reason): return [.reset(machine.everything, reason)]
        case .after(let version) where version > machine.version: return [.reset(machine.everything, .unknownCursor)]
        case .after(let version): updates = machine.missed(since: version)
        case .fresh:
            guard machine.first.event.operation != .loaded else { return [.event(machine.first)] }
            updates = [machine.first]
        }
        // The updates are written to one connection at once, and wait there if the client is slow. So their size is
        // limited.
        guard let updates, updates.reduce(0, { $0 + $1.byteCount }) <= ItemList.bytesMax else {
            return [.reset(machine.everything, .historyGone)]
        }
        return updates.map(Entry.event)
    }

    // MARK: - Rendering

    /// Renders the entries; returns nil if an event other than a list of all items is too large.
    private func render(_ entries: [Entry]) -> [SharedEvent]? {
        var events: [SharedEvent] = []
        for entry in entries {
            if case .event(let update) = entry, update.event.operation != .loaded {
                guard let event = render(update) else { return nil }
                events.append(event)
            } else {
                events.append(render(entry))
            }
        }
        return events
    }

    /// Renders an event with all of its items; returns nil if it is too large.
    private func render(_ update: Update) -> SharedEvent? {
        let operation = update.event.operation.rawValue
        var writer = Self.begin(update.version, ("operation", operation))
        let items = update.event.items[...]
        guard ItemList.write(items, into: &writer) == items.endIndex else { return nil }
        let removed = update.removed[...]
        if !removed.isEmpty {
            guard ItemList.write(removed, as: "removed", into: &writer) == removed.endIndex else { return nil }
        }
        if update.removesAll {
            writer.key("removedAll")
            writer.bool(true)
        }
        writer.endObject()
        // No subscriber may resume at `initialized`, because it would miss the `loaded` event that follows.
        let version = update.event.operation == .initialized ? nil : update.version
        return SharedEvent(name: operation, version: version, data: writer.bytes)
    }

    /// Renders a list of all items, or of as many as fit.
    private func render(_ entry: Entry) -> SharedEvent {
        let (update, name, word): (Update, String, (String, String)) =
            switch entry {
            case .event(let update): (update, "loaded", ("operation", "loaded"))
            case .reset(let update, let reason): (update, "reset", ("reason", reason.rawValue))
            }
        var writer = Self.begin(update.version, word)
        let items = update.event.items[...]
        let end = ItemList.write(items, into: &writer)
        if end < items.endIndex {
            writer.key("next")
            writer.string(items[end - 1][keyPath: store.cacheIdentifier])
        }
        writer.endObject()
        return SharedEvent(name: name, version: update.version, data: writer.bytes)
    }

    private static func begin(_ version: UInt64, _ word: (name: String, text: String)) -> JSONWriter {
        var writer = JSONWriter(capacity: 512, includesTransient: false)
        writer.beginObject()
        writer.key("version")
        writer.integer(version)
        writer.key(word.name)
        writer.string(word.text)
        return writer
    }
}
