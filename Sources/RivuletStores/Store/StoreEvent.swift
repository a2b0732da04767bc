/// What happened in a ``Store``, and to which items.
///
/// Source: <Tests/Rows/Systems.md#e-10>.
public struct StoreEvent<Item: StorableItem>: StorableItem {
    /// What happened.
    public enum Operation: String, StorableItem, CaseIterable {
        /// The store was made and has not loaded yet.
        case initialized
        /// The items are those that the store holds: after it loaded, and for a subscriber that fell behind.
        case loaded
        /// The items were inserted, or replaced those with their identifiers.
        case insert
        /// The items were removed.
        case remove
    }

    /// What happened.
    public let operation: Operation
    /// The items it happened to; for `loaded` all that there are.
    public let items: [Item]

    /// An event about these items.
    public init(operation: Operation, items: [Item]) {
        self.operation = operation
        self.items = items
    }
}

extension StoreEvent: Equatable where Item: Equatable {}

/// An event and the version of the store that it led to.
package struct StoreUpdate<Item: StorableItem>: Sendable {
    /// How many operations the store has made.
    package let version: UInt64
    /// What happened.
    package let event: StoreEvent<Item>
    /// The items that went before those of an `insert` came, in one step with it.
    ///
    /// The event is silent about them (<Tests/Rows/Systems.md#e-16>), but a copy that is kept by events would keep them for ever.
    package var removed: [Item] = []
    /// Whether all items went before those of an `insert` came.
    package var removesAll = false
    /// The bytes of keys and documents of the items in it, as far as they were in the store.
    package let byteCount: Int
}
