public import Logging
public import Observation
package import Synchronization

/// Items of one type that are kept by a storage, each under its identifier, in the order in which the identifiers first came.
///
/// Read them as a plain array, ``items``; change them by ``insert(_:)-(Item)``, ``remove(_:)-(Item)`` and ``removeAll()``. A change
/// is on disk first, then in ``items``, then in ``events``; one that fails is nowhere. Operations are made one after the other, in
/// the order in which they were asked for, after the store has loaded; one that was asked for is made even when the task that asked
/// is cancelled. Identifiers are the same only when they are spelled the same.
///
/// Make one store for a collection and share it: two of them do not see each other's changes. Safe on all threads.
/// Source: <Tests/Rows/Systems.md#e-02>, E-06.
public final class Store<Item: StorableItem>: Observable, Sendable {
    /// Where the items are kept.
    public let collection: ItemCollection
    package let cacheIdentifier: any KeyPath<Item, String> & Sendable
    /// The spelling that identifiers have here of what others may spell otherwise.
    package let canonicalIdentifier: @Sendable (String) -> String
    let logger: Logger
    package let machine: Mutex<StoreMachine<Item>>
    private let registrar = ObservationRegistrar()
    /// What of an item would not be there again after a restart; nil: nothing.
    private let unreadablePlace = ItemDocument.unreadablePlace(of: Item.self)
    /// Made once: making a key path of a generic type takes a microsecond.
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

    /// Makes a store and returns at once, without items; they are loaded in the background.
    ///
    /// `cacheIdentifier` is what tells one item from another. Whoever must not see the empty list of the beginning waits for
    /// ``itemsHaveLoaded()``, or makes the store by `try await`.
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

    /// Makes a store, and returns when it has loaded.
    ///
    /// - Throws: ``ItemStorageError``, why the collection cannot be read.
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

    /// All items, in the order in which their identifiers first came; a read costs the same for any number of them.
    ///
    /// Empty until the store has loaded. Who keeps the array over a change of the store makes that change copy it.
    /// Observers are told after each change, on the thread that made it, where they must not block.
    public var items: [Item] {
        registrar.access(self, keyPath: itemsPath)
        return machine.withLock { $0.contents.list }
    }

    /// What lies in the collection and could not be read when the store loaded.
    ///
    /// It stays there until its key is inserted or removed, or everything is. It hides no other item.
    public var damagedItems: [DamagedItem] { machine.withLock { $0.contents.damaged } }

    /// Tells everybody who reads ``items``.
    ///
    /// After the change, not before it: an observer on another thread that reads at once must find what is new.
    func tellObservers() { registrar.withMutation(of: self, keyPath: itemsPath) {} }
}

// MARK: - Operations

extension Store {
    /// Inserts an item, or puts it in the place of the one with its identifier; durable on return.
    ///
    /// - Throws: ``ItemStorageError`` or ``StoreError``; then nothing was changed, unless it is `indeterminate`.
    /// Source: <Tests/Rows/Systems.md#e-07>.
    public func insert(_ item: Item) async throws { try await perform([.insert([item], after: .nothing)]) }

    /// Inserts items in one commit; durable on return.
    ///
    /// Of several with one identifier the last counts, in the place of the first.
    /// - Throws: ``ItemStorageError`` or ``StoreError``; then nothing was changed, unless it is `indeterminate`.
    public func insert(_ items: [Item]) async throws { try await perform([.insert(items, after: .nothing)]) }

    /// Removes the item with this one's identifier, if there is one; durable on return.
    ///
    /// - Throws: ``ItemStorageError`` or ``StoreError``; then nothing was changed, unless it is `indeterminate`.
    /// Source: <Tests/Rows/Systems.md#e-08>.
    public func remove(_ item: Item) async throws { try await perform([.remove([item], isList: false)]) }

    /// Removes the items with these identifiers in one commit; durable on return.
    ///
    /// - Throws: ``ItemStorageError`` or ``StoreError``; then nothing was changed, unless it is `indeterminate`.
    public func remove(_ items: [Item]) async throws { try await perform([.remove(items, isList: true)]) }

    /// Removes all items, also what cannot be read; durable on return.
    ///
    /// - Throws: ``ItemStorageError`` or ``StoreError``; then nothing was changed, unless it is `indeterminate`.
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
                if let unreadablePlace, !prepared.sizes.isEmpty {
                    throw .unreadable(type: "\(Item.self)", place: unreadablePlace)
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
/// Types that are `JSONCodable` too are read and written through that, which is several times as fast.
/// Source: <Tests/Rows/Systems.md#e-01>.
public typealias StorableItem = Codable & Sendable
