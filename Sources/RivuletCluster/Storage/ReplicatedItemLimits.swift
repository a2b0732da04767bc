internal import RivuletStores

/// The limits of stores' items, which the owner checks before the log.
package struct ReplicatedItemLimits: Hashable, Sendable {
    /// The largest document of a store: 1 MiB.
    package var documentBytesMax = 1 << 20
    /// The largest key of a document, and the largest name of a collection: 64 KiB.
    package var keyBytesMax = 64 << 10
    /// The maximum number of documents of one collection: 1,000,000; operations carry it.
    package var itemsMax = 1_000_000

    /// Makes the default limits, as documented at each of them.
    package init() {}

    func refusal(of changes: [ItemChange], to collection: String) -> ItemStorageError? {
        guard collection.utf8.count <= keyBytesMax else { return .tooLarge(limitBytes: keyBytesMax) }
        for change in changes {
            switch change {
            case .put(let key, let document):
                guard key.utf8.count <= keyBytesMax else { return .tooLarge(limitBytes: keyBytesMax) }
                guard document.count <= documentBytesMax else { return .tooLarge(limitBytes: documentBytesMax) }
            case .remove(let key):
                guard key.utf8.count <= keyBytesMax else { return .tooLarge(limitBytes: keyBytesMax) }
            case .removeAll: break
            }
        }
        return nil
    }
}
