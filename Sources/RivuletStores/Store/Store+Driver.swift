// Owns how a store does what its machine says: the storage, observers, and those who wait.

import Logging
import OrderedCollections
package import RivuletJSON
import Synchronization

extension Store {
    /// Waits until the store has loaded; returns at once when it has.
    ///
    /// There is one load. When it failed, each call throws its error, until an operation has had the store load after all.
    /// - Throws: ``ItemStorageError``, why the collection cannot be read; ``StoreError/busy(detail:)``.
    /// Source: <Tests/Rows/Systems.md#e-05>.
    public func itemsHaveLoaded() async throws {
        try await withCheckedThrowingContinuation { continuation in
            do {
                let result = try machine.withLock { machine throws(StoreError) in
                    try machine.askForLoad { continuation.resume(with: $0.map { _ in }) }
                }
                if let result { continuation.resume(with: result.map { _ in }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// Replies when the items are those that the storage has, at once when they are; for callers that do not wait.
    package func whenLoaded(_ reply: @escaping StoreReply) {
        do {
            if let result = try machine.withLock({ machine throws(StoreError) in try machine.askForContents(reply) }) {
                reply(result)
            }
        } catch {
            reply(.failure(error))
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
        for delivery in announcement.deliveries { delivery.make() }
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

    /// How many items a task of a load reads, before others have a turn on its thread.
    private static var itemsPerTask: Int { 256 }

    private func decode(_ stored: StoredCollection) async -> StoreContents<Item> {
        let groups = stride(from: 0, to: stored.items.count, by: Self.itemsPerTask).map { start in
            stored.items[start..<min(start + Self.itemsPerTask, stored.items.count)]
        }
        let results = await withTaskGroup { tasks in
            for (index, group) in groups.enumerated() {
                tasks.addTask { (index, ItemDocument.decode(Item.self, from: group.map(\.document))) }
            }
            var results: [[Result<Item, JSONError>]] = Array(repeating: [], count: groups.count)
            for await (index, result) in tasks { results[index] = result }
            return results
        }
        var contents = StoreContents<Item>()
        contents.reserveCapacity(stored.items.count)
        contents.damaged = stored.damaged
        for (group, results) in zip(groups, results) {
            for (stored, result) in zip(group, results) { add(result, of: stored, to: &contents) }
        }
        report(contents.damaged)
        return contents
    }

    private func add(_ result: Result<Item, JSONError>, of stored: StoredItem, to contents: inout StoreContents<Item>) {
        if let fault = fault(of: result, in: stored) {
            contents.damaged.append(fault)
        } else if case .success(let item) = result {
            contents.put(item, under: ItemKey(stored.key), size: stored.key.utf8.count + stored.document.count)
        }
    }

    /// Why what was read is no item of this store; nil: it is.
    package func fault(of result: Result<Item, JSONError>, in stored: StoredItem) -> DamagedItem? {
        switch result {
        case .success(let item):
            let identifier = item[keyPath: cacheIdentifier]
            if ItemKey(identifier) == ItemKey(stored.key) { return nil }
            // Under another key it could be neither replaced nor removed.
            let detail = "the item's identifier is \(String(reflecting: identifier)), which is not its key"
            return DamagedItem(key: stored.key, detail: detail)
        case .failure(let error): return DamagedItem(key: stored.key, detail: error.description)
        }
    }

    /// The line has neither keys nor what is stored under them, for both are clients'.
    private func report(_ damaged: [DamagedItem]) {
        guard !damaged.isEmpty else { return }
        logger.error(
            "items cannot be read; they stay in the storage and are left out; `rivulet check` names them",
            metadata: ["store": "\(collection.name)", "count": "\(damaged.count)"]
        )
    }
}
