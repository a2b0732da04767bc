import RivuletCluster
import RivuletEngine
import RivuletSessions
package import RivuletStores
import Synchronization

/// The items of a node's apps, which only the node that has the partition reads.
///
/// Stores keep in memory what they have read. A store that a standby had read would be outdated when the standby takes
/// the partition. So a read waits until the node has the partition, as a read waits for an engine that is not open yet.
package final class OwnerItems: ItemStorage {
    /// The most reads that wait.
    package static let waitingMax = 10_000

    private let storage: any ItemStorage
    private let node: String
    private let state = Mutex(State())

    private struct State {
        var phase = Phase.waiting
        var reads: [(collection: String, reply: ItemStorageReply<StoredCollection>)] = []
    }

    private enum Phase {
        case waiting
        /// The node has the partition, or had it: a process that loses it begins again.
        case open
        case closed
    }

    package init(_ storage: any ItemStorage, of node: String) { (self.storage, self.node) = (storage, node) }

    /// Carries out the reads, because the node has the partition.
    package func didBecomeOwner() {
        let reads = state.withLock { state in
            guard state.phase == .waiting else { return state.reads }
            state.phase = .open
            defer { state.reads = [] }
            return state.reads
        }
        for read in reads { storage.items(of: read.collection, reply: read.reply) }
    }

    /// Refuses the reads, because the process ends.
    package func close() {
        let reads = state.withLock { state in
            state.phase = .closed
            defer { state.reads = [] }
            return state.reads
        }
        for read in reads { read.reply(.failure(.closed)) }
    }

    /// Refuses code that would block a thread until the node has the partition.
    package func open() throws(ItemStorageError) {
        switch state.withLock({ $0.phase }) {
        case .waiting: throw notOwner
        case .open: try storage.open()
        case .closed: throw .closed
        }
    }

    private var notOwner: ItemStorageError {
        .unavailable(detail: "the node \(node) does not have the partition, and reads no items of its apps")
    }

    package func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        let refusal: ItemStorageError?? = state.withLock { state in
            switch state.phase {
            case .open: return nil
            case .closed: return .some(.closed)
            case .waiting:
                guard state.reads.count < Self.waitingMax else { return .some(notOwner) }
                state.reads.append((collection, reply))
                return .some(nil)
            }
        }
        switch refusal {
        case nil: storage.items(of: collection, reply: reply)
        case .some(nil): break
        case .some(let error?): reply(.failure(error))
        }
    }

    package func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        storage.commit(changes, to: collection, reply: reply)
    }
}

/// Reports that a node has the partition to its apps' items, before the server opens them.
final class OwnerReports: ClusterObserver {
    private let observer: any ClusterObserver
    private let items: OwnerItems

    init(_ observer: any ClusterObserver, _ items: OwnerItems) { (self.observer, self.items) = (observer, items) }

    func standingDidChange(_ standing: ClusterStanding) {
        if standing.role == .owner { items.didBecomeOwner() }
        observer.standingDidChange(standing)
    }

    func didReceive(_ message: [UInt8], from sender: ClusterPeer) { observer.didReceive(message, from: sender) }
    func mayHaveLostMessages() { observer.mayHaveLostMessages() }
    func didApply(changesOf collections: Set<String>) { observer.didApply(changesOf: collections) }
}
