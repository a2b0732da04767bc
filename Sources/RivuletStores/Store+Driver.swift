// Part of Rivulet. See README.md for the architecture.
// Owns how a store does what its machine says: the storage, observers, and those who wait.

import Logging
import OrderedCollections
import RivuletJSON
import Synchronization

extension Store {
    /// Waits until the store has loaded; returns at once when it has.
    ///
    /// There is one load. When it failed, each call throws its error, until an operation has had the store load after all.
    /// - Throws: ``ItemStorageError``, why the collection cannot be read; ``StoreError/busy(detail:)``.
    /// Source: spec/systems.md E-05.
    public func itemsHaveLoaded() async throws {
        try await withCheckedThrowingContinuation { continuation in
            do {
                let result = try machine.withLock { machine throws(StoreError) in
                    try machine.askForLoad { continuation.resume(with: $0) }
                }
                if let result { continuation.resume(with: result) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// Does what is to be done, unless another thread is at it.
    ///
    /// One at a time, so that commits reach the storage, and events and answers those who wait, in their order. A storage that
    /// answers at once comes back here while this runs, and leaves the answer for the next turn.
    func drive() {
        guard machine.withLock({ $0.beginDriving() }) else { return }
        while let action = machine.withLock({ $0.next() }) {
            switch action {
            case .load:
                collection.storage.items(of: collection.name) { self.read($0) }
            case .commit(let changes, let number):
                collection.storage.commit(changes, to: collection.name) { result in
                    self.machine.withLock { $0.answered(number, with: result) }
                    self.drive()
                }
            case .announce(let announcement): announce(announcement)
            }
        }
    }

    private func announce(_ announcement: StoreMachine<Item>.Announcement) {
        for delivery in announcement.deliveries { delivery.reply(delivery.update) }
        if announcement.changesItems { tellObservers() }
        for reply in announcement.replies { reply(announcement.result) }
    }

    // MARK: - Loading

    private func read(_ result: Result<StoredCollection, ItemStorageError>) {
        switch result {
        case .failure(let error): loaded(.failure(error))
        // A task of its own, the only one: the storage's thread has others to serve.
        case .success(let stored): Task { loaded(.success(await decode(stored))) }
        }
    }

    private func loaded(_ result: Result<StoreContents<Item>, any Error>) {
        machine.withLock { $0.loaded(result) }
        drive()
    }

    /// How many items are read before others have a turn on the thread.
    private static var itemsPerTurn: Int { 1_024 }

    private func decode(_ stored: StoredCollection) async -> StoreContents<Item> {
        var contents = StoreContents<Item>()
        contents.items.reserveCapacity(stored.items.count)
        contents.damaged = stored.damaged
        for (index, item) in stored.items.enumerated() {
            if index % Self.itemsPerTurn == Self.itemsPerTurn - 1 { await Task.yield() }
            do throws(JSONError) {
                contents.items[ItemKey(item.key)] = try decode(item)
            } catch {
                contents.damaged.append(DamagedItem(key: item.key, detail: error.description))
            }
        }
        report(contents.damaged)
        return contents
    }

    private func decode(_ stored: StoredItem) throws(JSONError) -> Item {
        let item = try ItemDocument.decode(Item.self, from: stored.document)
        let identifier = item[keyPath: cacheIdentifier]
        // Under another key it could be neither replaced nor removed.
        guard ItemKey(identifier) == ItemKey(stored.key) else {
            let detail = "the item's identifier is \(String(reflecting: identifier)), which is not its key"
            throw JSONError(kind: .mismatch, offset: 0, pointer: "", detail: detail)
        }
        return item
    }

    /// How many damaged items get a line of their own in the log.
    private static var reportedMax: Int { 10 }

    private func report(_ damaged: [DamagedItem]) {
        for item in damaged.prefix(Self.reportedMax) {
            logger.error(
                "an item cannot be read; it stays in the storage and is left out",
                metadata: [
                    "store": "\(collection.name)", "key": "\(item.key ?? "unknown")", "detail": "\(item.detail)",
                ]
            )
        }
        if damaged.count > Self.reportedMax {
            logger.error(
                "more items cannot be read",
                metadata: ["store": "\(collection.name)", "count": "\(damaged.count)"]
            )
        }
    }
}
