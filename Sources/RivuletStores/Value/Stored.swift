/// A read-only array of a ``Store``'s items; `$name` is the store.
///
///     @Stored(in: store) var notes: [Note]
///     try await $notes.insert(note)
///
/// In an `@Observable` class, write `@ObservationIgnored` before `@Stored`, because the store itself is observable.
/// Source: <Tests/Rows/Systems.md#e-17>.
@propertyWrapper
public struct Stored<Item: StorableItem>: Sendable {
    /// The store.
    public let projectedValue: Store<Item>

    /// Creates an array of a store's items.
    public init(in store: Store<Item>) {
        projectedValue = store
    }

    /// The store's items.
    public var wrappedValue: [Item] { projectedValue.items }
}
