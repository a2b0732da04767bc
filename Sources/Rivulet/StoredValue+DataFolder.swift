// This file makes stored values and secrets in the data folder, for apps that give no storage.

public import Logging
public import RivuletStores

extension StoredValue {
    /// Creates a value in the data folder, see ``DataFolderValues``.
    ///
    /// Nothing is opened before the value is read or set.
    /// - Parameters:
    ///   - key: Any text, unique to this value.
    ///   - default: The value while no readable value is stored.
    ///   - logger: Receives errors that cannot be thrown.
    public convenience init(
        key: String,
        default: Item,
        logger: Logger = Logger(label: "rivulet.stores")
    ) {
        self.init(key: key, default: `default`, storage: DataFolderValues().values, logger: logger)
    }

    /// Creates a value in a property declaration; the property's initial value is the default.
    public convenience init(
        wrappedValue: Item,
        key: String,
        logger: Logger = Logger(label: "rivulet.stores")
    ) {
        self.init(key: key, default: wrappedValue, logger: logger)
    }
}

extension SecurelyStoredValue {
    /// Creates a secret in the data folder, see ``DataFolderValues``, sealed with the keys of ``SecretKeys``.
    ///
    /// Nothing is opened, and no key is made, before the secret is read or set.
    ///
    /// - Parameters:
    ///   - key: Any text, unique within a service and a group.
    ///   - service: The purpose of the secret.
    ///   - group: The owner of the secret.
    ///   - logger: Receives errors that cannot be thrown, and the reason that there is no key.
    public convenience init(
        key: String,
        service: KeychainService? = nil,
        group: KeychainGroup? = nil,
        logger: Logger = Logger(label: "rivulet.stores")
    ) {
        self.init(key, service, group, in: DataFolderValues(), ProcessKeys(), logger)
    }

    /// Creates a secret in the given folder, with the given keys.
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
