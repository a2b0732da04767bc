/// A change of a ``Store``, with its items.
///
/// Source: <Tests/Rows/Systems.md#e-10>.
public struct StoreEvent<Item: StorableItem>: StorableItem {
    /// The kind of a change.
    public enum Operation: String, StorableItem, CaseIterable {
        /// The store was created and has not loaded yet.
        case initialized
        /// The items are all items of the store, after it loaded, or for a subscriber that fell behind.
        case loaded
        /// The items were inserted, or replaced items with the same identifiers.
        case insert
        /// The items were removed.
        case remove
    }

    /// The kind of the change.
    public let operation: Operation
    /// The changed items; for `loaded` all items of the store.
    public let items: [Item]

    /// Creates an event about these items.
    public init(operation: Operation, items: [Item]) {
        self.operation = operation
        self.items = items
    }
}

extension StoreEvent: Equatable where Item: Equatable {}

/// An event and the version of the store after it.
package struct StoreUpdate<Item: StorableItem>: Sendable {
    /// The version of the store after the event.
    package let version: UInt64
    /// The event.
    package let event: StoreEvent<Item>
    /// The items that the step of an `insert` removed before it inserted items.
    ///
    /// The event does not have these items (<Tests/Rows/Systems.md#e-16>), but a copy that is updated by events must
    /// remove them.
    package var removed: [Item] = []
    /// True if the step of an `insert` removed all items before it inserted items.
    package var removesAll = false
    /// The number of bytes of the keys and documents of the items in this update.
    ///
    /// An item to be removed that was not in the store adds nothing.
    package let byteCount: Int
}
