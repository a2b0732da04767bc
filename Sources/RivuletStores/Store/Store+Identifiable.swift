// This file makes stores of items that have identifiers of their own.

public import FoundationEssentials
public import Logging

extension Store where Item: Identifiable, Item.ID == String {
    /// Creates a store of items with their `id` as identifier, and returns at once; the items are loaded in the
    /// background.
    ///
    /// Source: <Tests/Rows/Systems.md#e-04>.
    public convenience init(
        storage: ItemCollection,
        logger: Logger = Logger(label: "rivulet.store"),
        limits: StoreLimits = StoreLimits()
    ) {
        self.init(storage: storage, cacheIdentifier: \.id, logger: logger, limits: limits)
    }

    /// Creates a store of items with their `id` as identifier, and returns when it has loaded.
    ///
    /// - Throws: ``ItemStorageError``, the reason that the collection cannot be read.
    public convenience init(
        storage: ItemCollection,
        logger: Logger = Logger(label: "rivulet.store"),
        limits: StoreLimits = StoreLimits()
    ) async throws {
        try await self.init(storage: storage, cacheIdentifier: \.id, logger: logger, limits: limits)
    }
}

extension Store where Item: Identifiable, Item.ID == UUID {
    /// Creates a store of items with their `id`, in upper case, as identifier, and returns at once.
    ///
    /// The items are loaded in the background.
    /// Source: <Tests/Rows/Systems.md#e-04>.
    public convenience init(
        storage: ItemCollection,
        logger: Logger = Logger(label: "rivulet.store"),
        limits: StoreLimits = StoreLimits()
    ) {
        self.init(byUUIDsIn: storage, StoreMachine(limits: limits), logger: logger)
        drive()
    }

    /// Creates a store of items with their `id`, in upper case, as identifier, and returns when it has loaded.
    ///
    /// - Throws: ``ItemStorageError``, the reason that the collection cannot be read.
    public convenience init(
        storage: ItemCollection,
        logger: Logger = Logger(label: "rivulet.store"),
        limits: StoreLimits = StoreLimits()
    ) async throws {
        self.init(byUUIDsIn: storage, StoreMachine(limits: limits), logger: logger)
        drive()
        try await itemsHaveLoaded()
    }

    /// Creates a store that also accepts UUIDs in lower case, as browsers write them.
    convenience init(byUUIDsIn collection: ItemCollection, _ machine: consuming StoreMachine<Item>, logger: Logger) {
        self.init(
            in: collection,
            identifiedBy: \.id.uuidString,
            canonicalIdentifier: { UUID(uuidString: $0)?.uuidString ?? $0 },
            machine,
            logger: logger
        )
    }
}
