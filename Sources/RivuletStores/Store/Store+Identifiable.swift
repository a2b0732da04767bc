// Owns stores of items that know their identifiers.

public import FoundationEssentials
public import Logging

extension Store where Item: Identifiable, Item.ID == String {
    /// Makes a store of items that are told apart by their `id`, and returns at once; they are loaded in the background.
    ///
    /// Source: <Tests/Rows/Systems.md#e-04>.
    public convenience init(
        storage: ItemCollection,
        logger: Logger = Logger(label: "rivulet.store"),
        limits: StoreLimits = StoreLimits()
    ) {
        self.init(storage: storage, cacheIdentifier: \.id, logger: logger, limits: limits)
    }

    /// Makes a store of items that are told apart by their `id`, and returns when it has loaded.
    ///
    /// - Throws: ``ItemStorageError``, why the collection cannot be read.
    public convenience init(
        storage: ItemCollection,
        logger: Logger = Logger(label: "rivulet.store"),
        limits: StoreLimits = StoreLimits()
    ) async throws {
        try await self.init(storage: storage, cacheIdentifier: \.id, logger: logger, limits: limits)
    }
}

extension Store where Item: Identifiable, Item.ID == UUID {
    /// Makes a store of items that are told apart by their `id`, in upper case, and returns at once; they are loaded in the background.
    ///
    /// Source: <Tests/Rows/Systems.md#e-04>.
    public convenience init(
        storage: ItemCollection,
        logger: Logger = Logger(label: "rivulet.store"),
        limits: StoreLimits = StoreLimits()
    ) {
        self.init(byUUIDsIn: storage, StoreMachine(limits: limits), logger: logger)
        drive()
    }

    /// Makes a store of items that are told apart by their `id`, in upper case, and returns when it has loaded.
    ///
    /// - Throws: ``ItemStorageError``, why the collection cannot be read.
    public convenience init(
        storage: ItemCollection,
        logger: Logger = Logger(label: "rivulet.store"),
        limits: StoreLimits = StoreLimits()
    ) async throws {
        self.init(byUUIDsIn: storage, StoreMachine(limits: limits), logger: logger)
        drive()
        try await itemsHaveLoaded()
    }

    /// A store whose clients may write a UUID in lower case too, as browsers do.
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
