public import Logging
public import Observation
package import Synchronization

/// Items of one type in a storage, each under its identifier, in the order in which the identifiers were first
/// stored.
///
/// Read the items as a plain array, ``items``. Change them with ``insert(_:)-(Item)``, ``remove(_:)-(Item)`` and
/// ``removeAll()``. A change is on disk first, then in ``items``, then in ``events``; a failed change has no effect.
/// Operations are made one after the other, in the order of their requests, after the store has loaded. A requested
/// operation is made even if the task that requested it is cancelled. Identifiers are equal only if they have the
/// same bytes.
///
/// Make one store for a collection and share it: two stores do not see each other's changes. A store can be used on
/// any thread.
/// Source: <Tests/Rows/Systems.md#e-02>, E-06.
public final class Store<Item: StorableItem>: Observable, Sendable {
    /// The collection that stores the items.
    public let collection: ItemCollection
    package let cacheIdentifier: any KeyPath<Item, String> & Sendable
    /// Returns the store's spelling of an identifier that clients may spell differently.
    package let canonicalIdentifier: @Sendable (String) -> String
    let logger: Logger
    package let machine: Mutex<StoreMachine<Item>>
    private let registrar = ObservationRegistrar()
    /// The path of a field that a restart would lose and that is required to read an item; nil if there is none.
    private let unreadablePath = ItemDocument.unreadablePath(of: Item.self)
    /// Created once, because a key path of a generic type takes a microsecond to create.
    private let itemsPath: any KeyPath<Store, [Item]> & Sendable = \.items

    init(
        in collection: ItemCollection,
        identifiedBy cacheIdentifier: any KeyPath<Item, String> & Sendable,
        canonicalIdentifier: @escaping @Sendable (String) -> String = { $0 },
        _ machine: consuming StoreMachine<Item>,
        logger: Logger
    ) {
        self.canonicalIdentifier = canonicalIdentifier
        self.collection = collection
        self.cacheIdentifier = cacheIdentifier
        self.logger = logger
        self.machine = Mutex(machine)
    }

    /// Creates a store and returns at once, without items; they are loaded in the background.
    ///
    /// `cacheIdentifier` is the key path of an item's identifier. A caller that must not see the initial empty list
    /// waits for ``itemsHaveLoaded()``, or creates the store with `try await`.
    /// Source: <Tests/Rows/Systems.md#e-02>.
    public convenience init(
        storage: ItemCollection,
        cacheIdentifier: any KeyPath<Item, String> & Sendable,
        logger: Logger = Logger(label: "rivulet.store"),
        limits: StoreLimits = StoreLimits()
    ) {
        self.init(in: storage, identifiedBy: cacheIdentifier, StoreMachine(limits: limits), logger: logger)
        drive()
    }

    /// Creates a store, and returns when it has loaded.
    ///
    /// - Throws: ``ItemStorageError``, the reason that the collection cannot be read.
    /// Source: <Tests/Rows/Systems.md#e-03>.
    public convenience init(
        storage: ItemCollection,
        cacheIdentifier: any KeyPath<Item, String> & Sendable,
        logger: Logger = Logger(label: "rivulet.store"),
        limits: StoreLimits = StoreLimits()
    ) async throws {
        self.init(in: storage, identifiedBy: cacheIdentifier, StoreMachine(limits: limits), logger: logger)
        drive()
        try await itemsHaveLoaded()
    }

    /// All items, in the order in which their identifiers were first stored.
    ///
    /// Empty until the store has loaded. The first read after a change costs O(n), each later read O(1). Observers
    /// are notified after each change, on the thread that made the change, and must not block there.
    public var items: [Item] {
        registrar.access(self, keyPath: itemsPath)
        // The list is made outside of the lock, so that a long list does not delay operations.
        return machine.withLock { $0.contents }.list
    }

    /// The items of the collection that could not be read when the store loaded.
    ///
    /// Such an item stays there until its key is inserted or removed, or until everything is removed. It does not
    /// affect other items.
    public var damagedItems: [DamagedItem] { machine.withLock { $0.contents.damaged } }

    /// Notifies all observers of ``items``.
    ///
    /// The call comes after the change: an observer on another thread that reads at once must get the new items.
    func tellObservers() { registrar.withMutation(of: self, keyPath: itemsPath) {} }
}

// MARK: - Operations

extension Store {
    /// Inserts an item, or replaces the item with its identifier; durable on return.
    ///
    /// - Throws: ``ItemStorageError`` or ``StoreError``. Nothing was changed then, unless the error is
    ///   `indeterminate`.
    /// Source: <Tests/Rows/Systems.md#e-07>.
    public func insert(_ item: Item) async throws { try await perform([.insert([item], after: .nothing)]) }

    /// Inserts items in one commit; durable on return.
    ///
    /// Of several items with one identifier the last one is stored, at the position of the first.
    /// - Throws: ``ItemStorageError`` or ``StoreError``. Nothing was changed then, unless the error is
    ///   `indeterminate`.
    public func insert(_ items: [Item]) async throws { try await perform([.insert(items, after: .nothing)]) }

    /// Removes the item with this item's identifier, if there is one; durable on return.
    ///
    /// - Throws: ``ItemStorageError`` or ``StoreError``. Nothing was changed then, unless the error is
    ///   `indeterminate`.
    /// Source: <Tests/Rows/Systems.md#e-08>.
    public func remove(_ item: Item) async throws { try await perform([.remove([item], isList: false)]) }

    /// Removes the items with these items' identifiers in one commit; durable on return.
    ///
    /// - Throws: ``ItemStorageError`` or ``StoreError``. Nothing was changed then, unless the error is
    ///   `indeterminate`.
    public func remove(_ items: [Item]) async throws { try await perform([.remove(items, isList: true)]) }

    /// Removes all items, also those that cannot be read; durable on return.
    ///
    /// - Throws: ``ItemStorageError`` or ``StoreError``. Nothing was changed then, unless the error is
    ///   `indeterminate`.
    /// Source: <Tests/Rows/Systems.md#e-09>.
    public func removeAll() async throws { try await perform([.removeAll]) }

    /// Makes steps in one commit, each with its event.
    func perform(_ steps: [StoreStep<Item>]) async throws {
        try await withCheckedThrowingContinuation { continuation in
            perform(steps) { continuation.resume(with: $0.map { _ in }) }
        }
    }

    /// Makes steps in one commit, each with its event, if a condition holds; for callers that do not wait.
    package func perform(
        _ steps: [StoreStep<Item>],
        if condition: StoreRequest<Item>.Condition? = nil,
        reply: @escaping StoreReply
    ) {
        do {
            let prepared = try steps.map { step throws(StoreError) in
                let prepared = try PreparedStep(step, identifier: cacheIdentifier)
                if let unreadablePath, !prepared.sizes.isEmpty {
                    throw .unreadable(type: "\(Item.self)", path: unreadablePath)
                }
                return prepared
            }
            try machine.withLock { machine throws(StoreError) in
                try machine.ask(StoreRequest(prepared, if: condition, reply: reply))
            }
        } catch {
            return reply(.failure(error))
        }
        drive()
    }
}

/// An item of a store: a plain value that is read and written as JSON.
///
/// Types that are also `JSONCodable` are read and written by that protocol, which is several times as fast.
/// Source: <Tests/Rows/Systems.md#e-01>.
public typealias StorableItem = Codable & Sendable
