// Owns a storage that fails, waits and counts as a test requires.

package import RivuletStores
import Synchronization

/// A memory storage with answers that a test can hold back, and with requests that a test can make fail.
package final class ScriptedItemStorage: ItemStorage {
    private struct Script {
        var isHeld = false
        var held: [@Sendable () -> Void] = []
        var readErrors: [ItemStorageError] = []
        var commitErrors: [(error: ItemStorageError, isWritten: Bool)] = []
        var commits: [[ItemChange]] = []
        var reads = 0
        var damaged: [DamagedItem] = []
    }

    private let memory = MemoryItemStorage(itemsMax: 1_000) { 7 }
    private let script = Mutex(Script())

    /// Creates a storage without items that answers at once.
    package init() {}

    /// Every requested commit.
    package var commits: [[ItemChange]] { script.withLock { $0.commits } }
    /// The number of reads of a collection.
    package var reads: Int { script.withLock { $0.reads } }
    /// The number of requests that wait for their answer.
    package var heldCount: Int { script.withLock { $0.held.count } }

    /// Returns after this number of commits was requested.
    package func waitForCommits(_ count: Int) async { while commits.count < count { await Task.yield() } }

    /// Holds all answers from now on.
    package func hold() { script.withLock { $0.isHeld = true } }

    /// Gives the held answers, in their order or in reverse, and later answers at once.
    package func release(isReversed: Bool = false) {
        let held = script.withLock { script in
            script.isHeld = false
            defer { script.held = [] }
            return isReversed ? script.held.reversed() : script.held
        }
        for answer in held { answer() }
    }

    /// Makes the next read fail.
    package func failRead(_ error: ItemStorageError) { script.withLock { $0.readErrors.append(error) } }

    /// Makes the next commit fail, with or without its changes applied.
    package func failCommit(_ error: ItemStorageError, isWritten: Bool = false) {
        script.withLock { $0.commitErrors.append((error, isWritten)) }
    }

    /// Reports an item that cannot be read.
    package func damage(_ item: DamagedItem) { script.withLock { $0.damaged.append(item) } }

    package func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        let (error, damaged) = script.withLock { script in
            script.reads += 1
            return (script.readErrors.isEmpty ? nil : script.readErrors.removeFirst(), script.damaged)
        }
        answer { [memory] in
            if let error { return reply(.failure(error)) }
            memory.items(of: collection) { reply($0.map { StoredCollection(items: $0.items, damaged: damaged) }) }
        }
    }

    package func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        let failure = script.withLock { script in
            script.commits.append(changes)
            return script.commitErrors.isEmpty ? nil : script.commitErrors.removeFirst()
        }
        guard let failure else {
            return memory.commit(changes, to: collection) { result in self.answer { reply(result) } }
        }
        if failure.isWritten { memory.commit(changes, to: collection) { _ in } }
        answer { reply(.failure(failure.error)) }
    }

    private func answer(_ answer: @escaping @Sendable () -> Void) {
        let isHeld = script.withLock { script in
            if script.isHeld { script.held.append(answer) }
            return script.isHeld
        }
        if !isHeld { answer() }
    }
}
