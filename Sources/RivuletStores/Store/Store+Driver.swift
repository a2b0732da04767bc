// This file carries out the actions of a store's machine: for the storage, observers, and waiting callers.

import Logging
import OrderedCollections
import RivuletBase
package import RivuletJSON
import Synchronization

extension Store {
    /// Waits until the store has loaded; returns at once if it has.
    ///
    /// A store loads once. If the load failed, each call throws the error of the load, until an operation has made the
    /// store load again.
    ///
    /// - Throws: ``ItemStorageError``, the reason that the collection cannot be read; ``StoreError/busy(detail:)``.
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

    /// Calls the reply when the latest load of the items has ended; for callers that do not wait.
    package func whenLoaded(_ reply: @escaping StoreReply) {
        do {
            if let result = try machine.withLock({ machine throws(StoreError) in try machine.askForContents(reply) }) {
                reply(result)
            }
        } catch {
            reply(.failure(error))
        }
    }

    /// Carries out the pending actions, unless a thread is already doing so.
    ///
    /// Only one thread carries out actions at a time, so that commits reach the storage in order, and events and
    /// answers reach their receivers in order. A storage that answers at once calls this function while it runs. The
    /// inner call returns at once, and the outer call handles the answer in its next turn.
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
        announcement.earlier?.free()
    }

    // MARK: - Loading

    private func read(_ result: Result<StoredCollection, ItemStorageError>) {
        switch result {
        case .failure(let error): loaded(.failure(error))
        // A task decodes the items, because the storage's thread has other requests to serve.
        case .success(let stored): Task { loaded(.success(await decode(stored))) }
        }
    }

    private func loaded(_ result: Result<StoreContents<Item>, any Error>) {
        machine.withLock { $0.loaded(result) }
        drive()
    }

    /// The number of items that one task of a load decodes, so that other tasks get its thread in between.
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
        var items: [(key: ByteText, entry: StoreContents<Item>.Entry)] = []
        items.reserveCapacity(stored.items.count)
        var damaged = stored.damaged
        for (stored, result) in zip(groups.joined(), results.joined()) {
            if let fault = fault(of: result, in: stored) {
                damaged.append(fault)
            } else if case .success(let item) = result {
                let size = stored.key.utf8.count + stored.document.count
                items.append((ByteText(stored.key), StoreContents.Entry(item: item, size: size)))
            }
        }
        var contents = StoreContents(items)
        contents.damaged = damaged
        report(contents.damaged)
        return contents
    }

    /// Returns the reason that a result is not an item of this store; nil if it is an item.
    package func fault(of result: Result<Item, JSONError>, in stored: StoredItem) -> DamagedItem? {
        switch result {
        case .success(let item):
            let identifier = item[keyPath: cacheIdentifier]
            if ByteText(identifier) == ByteText(stored.key) { return nil }
            // Under another key the item could neither be replaced nor removed.
            let detail = "the item's identifier is \(String(reflecting: identifier)), which is not its key"
            return DamagedItem(key: stored.key, detail: detail)
        case .failure(let error): return DamagedItem(key: stored.key, detail: error.description)
        }
    }

    /// Logs the number of damaged items.
    ///
    /// The line has neither keys nor documents, because both belong to clients.
    private func report(_ damaged: [DamagedItem]) {
        guard !damaged.isEmpty else { return }
        logger.error(
            "items cannot be read; they stay in the storage, but the store does not have them; if an app serves the store, `rivulet check` names them",
            metadata: ["store": "\(collection.name)", "count": "\(damaged.count)"]
        )
    }
}
