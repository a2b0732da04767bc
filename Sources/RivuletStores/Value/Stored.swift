/// A read-only array that is a ``Store``'s items; `$name` is the store.
///
///     @Stored(in: store) var notes: [Note]
///     try await $notes.insert(note)
///
/// In a class with `@Observable` write `@ObservationIgnored` before it: the store is observed by itself.
/// Source: <Tests/Rows/Systems.md#e-17>.
@propertyWrapper
public struct Stored<Item: StorableItem>: Sendable {
    /// The store.
    public let projectedValue: Store<Item>

    /// Reads from a store.
    public init(in store: Store<Item>) {
        projectedValue = store
    }

    /// The store's items.
    public var wrappedValue: [Item] { projectedValue.items }
}
