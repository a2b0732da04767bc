// Owns the stored values of an app that does not say where they are kept.

public import Logging
public import RivuletStores

extension StoredValue {
    /// A value in the data folder, see ``DataFolderValues``; nothing is opened before it is read or set.
    ///
    /// - Parameters:
    ///   - key: Any text; one value has it.
    ///   - default: What it is while nothing that can be read is stored.
    ///   - logger: Takes what goes wrong where nothing can be thrown.
    public convenience init(
        key: String,
        default: Item,
        logger: Logger = Logger(label: "rivulet.stores")
    ) {
        self.init(key: key, default: `default`, storage: DataFolderValues().values, logger: logger)
    }

    /// The same in a property declaration, whose initial value is the default.
    public convenience init(
        wrappedValue: Item,
        key: String,
        logger: Logger = Logger(label: "rivulet.stores")
    ) {
        self.init(key: key, default: wrappedValue, logger: logger)
    }
}

extension SecurelyStoredValue {
    /// A secret in the data folder, see ``DataFolderValues``, sealed with the keys of ``SecretKeys``.
    ///
    /// Nothing is opened, and no key is made, before it is read or set.
    ///
    /// - Parameters:
    ///   - key: Any text; one value of a service and a group has it.
    ///   - service: What it is for.
    ///   - group: Whom it belongs to.
    ///   - logger: Takes what goes wrong where nothing can be thrown, and why there is no key.
    public convenience init(
        key: String,
        service: KeychainService? = nil,
        group: KeychainGroup? = nil,
        logger: Logger = Logger(label: "rivulet.stores")
    ) {
        self.init(key, service, group, in: DataFolderValues(), ProcessKeys(), logger)
    }

    /// The same in a folder that is named, with keys that may be others.
    convenience init(
        _ key: String,
        _ service: KeychainService? = nil,
        _ group: KeychainGroup? = nil,
        in folder: DataFolderValues,
        _ keys: ProcessKeys,
        _ logger: Logger
    ) {
        self.init(
            key: key,
            service: service,
            group: group,
            storage: folder.secrets,
            keyedBy: { () throws(KeychainError) in try keys.keys(logger) },
            logger: logger
        )
    }
}
