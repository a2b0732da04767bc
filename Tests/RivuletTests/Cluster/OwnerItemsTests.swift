import Rivulet
import RivuletCluster
import RivuletStores
import Synchronization
import Testing

@Suite struct OwnerItemsTests {
    private let storage = MemoryItemStorage { 0 }

    /// Receives the results of reads.
    private final class Reads: Sendable {
        private let state = Mutex<[Result<StoredCollection, ItemStorageError>]>([])
        var results: [Result<StoredCollection, ItemStorageError>] { state.withLock { $0 } }
        func add(_ result: Result<StoredCollection, ItemStorageError>) { state.withLock { $0.append(result) } }
    }

    @Test func `a read waits until the node has the partition, and sees what came before`() throws {
        let (items, reads) = (OwnerItems(storage, of: "a"), Reads())
        items.items(of: "notes") { reads.add($0) }
        #expect(reads.results.isEmpty)
        // Another node has written meanwhile.
        storage.commit([.put(key: "one", document: [1])], to: "notes") { _ in }
        items.didBecomeOwner()
        let read = try #require(reads.results.first).get()
        #expect(read.items.map(\.key) == ["one"])
        items.items(of: "notes") { reads.add($0) }
        #expect(reads.results.count == 2)
    }

    @Test func `code that would block a thread is refused before`() throws {
        let items = OwnerItems(storage, of: "a")
        #expect(throws: ItemStorageError.self) { try items.open() }
        items.didBecomeOwner()
        try items.open()
    }

    @Test func `the end of the process refuses the reads that wait`() {
        let (items, reads) = (OwnerItems(storage, of: "a"), Reads())
        items.items(of: "notes") { reads.add($0) }
        items.close()
        items.items(of: "notes") { reads.add($0) }
        #expect(reads.results == [.failure(.closed), .failure(.closed)])
        #expect(throws: ItemStorageError.closed) { try items.open() }
    }

    @Test func `reads beyond the limit are refused`() {
        let (items, reads) = (OwnerItems(storage, of: "a"), Reads())
        for _ in 0...OwnerItems.waitingMax { items.items(of: "notes") { reads.add($0) } }
        #expect(reads.results.count == 1)
        items.close()
    }
}
