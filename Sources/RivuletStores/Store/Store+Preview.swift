// This file makes stores that have items from the start and store nothing.

public import FoundationEssentials
import Logging
import RivuletBase

extension Store {
    /// Returns a store in memory with these items, for previews, tests and demonstrations.
    ///
    /// It is available in release builds, too. Of several items with one identifier the last one is used, at the
    /// position of the first. Each call makes a separate store.
    /// Source: <Tests/Rows/Systems.md#e-31>.
    public static func previewStore(
        items: [Item],
        cacheIdentifier: any KeyPath<Item, String> & Sendable
    ) -> Store<Item> {
        // Nothing is stored, so the sizes of the documents are 0.
        let contents = StoreContents<Item>(
            items.lazy.map { (key: ByteText($0[keyPath: cacheIdentifier]), entry: .init(item: $0, size: 0)) }
        )
        return Store(
            in: MemoryItemStorage { 0 }.collection("previews"),
            identifiedBy: cacheIdentifier,
            StoreMachine(limits: StoreLimits(), contents: contents),
            logger: Logger(label: "rivulet.store")
        )
    }
}

extension Store where Item: Identifiable, Item.ID == String {
    /// Returns a store in memory with these items.
    public static func previewStore(items: [Item]) -> Store<Item> {
        previewStore(items: items, cacheIdentifier: \.id)
    }
}

extension Store where Item: Identifiable, Item.ID == UUID {
    /// Returns a store in memory with these items.
    public static func previewStore(items: [Item]) -> Store<Item> {
        previewStore(items: items, cacheIdentifier: \.id.uuidString)
    }
}
