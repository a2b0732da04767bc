// Owns stores that are filled from the start and keep nothing.

public import FoundationEssentials
import Logging
import OrderedCollections

extension Store {
    /// A store in memory that holds these items at once, for previews, tests and demonstrations; it is there in release builds too.
    ///
    /// Of several items with one identifier the last counts, in the place of the first. Two calls make two stores.
    /// Source: <Tests/Rows/Systems.md#e-31>.
    public static func previewStore(
        items: [Item],
        cacheIdentifier: any KeyPath<Item, String> & Sendable
    ) -> Store<Item> {
        var contents = StoreContents<Item>()
        // Nothing is written, so nothing has a size.
        for item in items { contents.put(item, under: ItemKey(item[keyPath: cacheIdentifier]), size: 0) }
        return Store(
            in: MemoryItemStorage { 0 }.collection("previews"),
            identifiedBy: cacheIdentifier,
            StoreMachine(limits: StoreLimits(), contents: contents),
            logger: Logger(label: "rivulet.store")
        )
    }
}

extension Store where Item: Identifiable, Item.ID == String {
    /// A store in memory that holds these items at once.
    public static func previewStore(items: [Item]) -> Store<Item> {
        previewStore(items: items, cacheIdentifier: \.id)
    }
}

extension Store where Item: Identifiable, Item.ID == UUID {
    /// A store in memory that holds these items at once.
    public static func previewStore(items: [Item]) -> Store<Item> {
        previewStore(items: items, cacheIdentifier: \.id.uuidString)
    }
}
