import RivuletBase
import RivuletStores

extension ItemStorage {
    /// Opens the storage, and returns all items of a collection; blocks until they are read.
    ///
    /// Call it at the start of the server only, because an event loop must not block.
    func readAtStart(_ collection: String) throws(ItemStorageError) -> StoredCollection {
        let answer = BlockingPromise<Result<StoredCollection, ItemStorageError>>()
        try open()
        items(of: collection) { answer.give($0) }
        return try answer.take().get()
    }
}
