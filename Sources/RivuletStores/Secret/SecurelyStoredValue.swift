import FoundationEssentials
public import Logging
import RivuletJSON
public import RivuletObjects

/// A value that is sealed at rest; nil if no value is stored.
///
/// Logs, errors and descriptions never have any part of the value. A document that cannot be opened reads as nil,
/// which is logged. The document stays until a value is set or removed; until then a change of a part of the value is
/// an error. Each function exists twice: in `async` functions it suspends, elsewhere it blocks the thread until the
/// value is on disk.
/// Source: <Tests/Rows/Systems.md#e-22> to E-24.
@propertyWrapper
public final class SecurelyStoredValue<Item: Codable & Sendable>: Sendable {
    /// The name within its service and group.
    public let key: String
    /// The purpose of the secret; nil for no particular purpose.
    public let service: KeychainService?
    /// The owner of the secret; nil for no particular owner.
    public let group: KeychainGroup?
    package let box: ValueBox<Item?>
    private let keys: Keys
    private let logger: Logger

    /// Returns the keys each time that a value is sealed or opened; nil if there are no keys.
    package typealias Keys = @Sendable () throws(KeychainError) -> SealingKeys?

    /// Creates a secret of a storage.
    ///
    /// Nothing is read before the secret is used.
    ///
    /// - Parameters:
    ///   - key: Any text, unique within a service and a group.
    ///   - service: The purpose of the secret.
    ///   - group: The owner of the secret.
    ///   - storage: The collection that stores the secret.
    ///   - keys: The keys that seal the secret. If they are nil, setting a value is an error.
    ///   - logger: Receives errors that cannot be thrown.
    public convenience init(
        key: String,
        service: KeychainService? = nil,
        group: KeychainGroup? = nil,
        storage: ItemCollection,
        keys: SealingKeys?,
        logger: Logger = Logger(label: "rivulet.stores")
    ) {
        self.init(key: key, service: service, group: group, storage: storage, keyedBy: { keys }, logger: logger)
    }

    /// Creates a secret of a storage.
    ///
    /// Its keys are loaded when it is first read or set.
    package init(
        key: String,
        service: KeychainService?,
        group: KeychainGroup?,
        storage: ItemCollection,
        keyedBy keys: @escaping Keys,
        logger: Logger
    ) {
        self.key = key
        self.service = service
        self.group = group
        self.keys = keys
        self.logger = logger
        let location = Self.location(key, service, group)
        box = ValueBox(
            key: location,
            storage: storage,
            codec: ValueCodec(
                document: { value in
                    guard let value else { return nil }
                    guard let keys = try keys() else { throw KeychainError.missingEntitlement }
                    let document = try StoredBox.document(of: value, key: key)
                    return try SealedDocument.seal(document, at: location, with: keys.current)
                },
                value: { document in
                    guard let document else { return nil }
                    guard let keys = try keys() else { throw SealedDocument.OpeningError.otherKey }
                    let bytes = try SealedDocument.open(document, at: location, with: keys)
                    do throws(JSONError) {
                        return try StoredBox.value(Item.self, of: bytes)
                    } catch {
                        // The error itself could repeat a part of the secret.
                        throw SealedDocument.OpeningError.otherType("\(Item.self)")
                    }
                },
                isOlder: { document in
                    guard let keys = try keys() else { return false }
                    return !SealedDocument.isSealed(document, with: keys.current)
                },
                defaultValue: nil
            ),
            logger: logger
        )
    }

    /// Returns one storage key for the three names; three other names have another storage key.
    private static func location(_ key: String, _ service: KeychainService?, _ group: KeychainGroup?) -> String {
        var writer = JSONWriter()
        writer.beginArray()
        for name in [service?.rawValue, group?.rawValue, key] {
            if let name { writer.string(name) } else { writer.null() }
        }
        writer.endArray()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The value; nil if no value is stored, or if the stored value cannot be opened.
    ///
    /// The first read loads it from the storage, which blocks the thread.
    public var wrappedValue: Item? { box.value }

    /// The value's object, with the functions that change the value.
    public var projectedValue: SecurelyStoredValue { self }

    /// The current value, then each value that is set; nil for a removal.
    ///
    /// A reader that is more than 1,024 values behind misses the oldest values, never the newest.
    public var values: AsyncStream<Item?> { box.values }

    /// A binding to the value.
    ///
    /// A write blocks until it is on disk, and nil removes the value.
    ///
    /// A write that fails is logged. A binding cannot throw; ``set(_:)-(Item?)`` can.
    public var binding: Binding<Item?> {
        Binding(get: { self.wrappedValue }, set: { self.write($0) })
    }

    private func write(_ value: Item?) {
        do {
            try set(value)
        } catch {
            logger.error("a secret was not written: \(error)", metadata: ["key": "\(key)"])
        }
    }

    /// Seals and stores a value, which is on disk on return; nil removes the value.
    ///
    /// - Throws: ``KeychainError/missingEntitlement`` if there is no key, ``StoreError``, ``ItemStorageError``. Nothing
    ///   has changed then, unless the error is `indeterminate`.
    public func set(_ value: Item?) async throws {
        guard let value else { return try await remove() }
        _ = try await box.change { _ in value }
    }

    /// Seals and stores a value, and blocks until it is on disk; nil removes the value.
    ///
    /// - Throws: The errors of the suspending form.
    public func set(_ value: Item?) throws {
        guard let value else { return try remove() }
        _ = try box.changeNow { _ in value }
    }

    /// Removes the value, even if it cannot be opened.
    ///
    /// If there is no value, nothing happens, and streams get nothing.
    ///
    /// - Throws: ``ItemStorageError``. Nothing has changed then, unless the error is `indeterminate`.
    public func remove() async throws {
        _ = try await box.change(knowing: Self.removal)
    }

    /// Removes the value, and blocks until it is off the disk.
    ///
    /// - Throws: The errors of the suspending form.
    public func remove() throws {
        _ = try box.changeNow(knowing: Self.removal)
    }

    package static var removal: ValueBox<Item?>.KnowingEdit {
        { value, standing in value == nil && standing.condition != .unreadable ? nil : .some(nil) }
    }

    /// Returns the value, or throws the reason that there is none.
    ///
    /// - Throws: ``KeychainError/itemNotFound`` if no value was set, ``KeychainError/couldNotAccessKeychain`` if the
    ///   value cannot be opened, ``KeychainError/missingEntitlement`` if there is no key to open it,
    ///   ``ItemStorageError``.
    public func value() async throws -> Item {
        try await box.change(knowing: presence).after.orNotFound()
    }

    /// Returns the value, and blocks while it is read for the first time.
    ///
    /// - Throws: The errors of the suspending form.
    public func value() throws -> Item {
        try box.changeNow(knowing: presence).after.orNotFound()
    }

    private var presence: ValueBox<Item?>.KnowingEdit {
        { [keys] _, standing in
            if standing.condition == .unreadable { throw try Self.fault(keys) }
            return nil
        }
    }

    /// Seals the value with the current key if it is sealed with an older one.
    ///
    /// The older key can be discarded afterwards.
    ///
    /// - Returns: True if the value was written; false if it is sealed with the current key, or if there is none.
    /// - Throws: ``KeychainError/couldNotAccessKeychain`` for a value that no key opens,
    ///   ``KeychainError/missingEntitlement`` if there is no key, ``ItemStorageError``. Nothing has changed then,
    ///   unless the error is `indeterminate`.
    @discardableResult
    public func reseal() async throws -> Bool {
        try await box.change(knowing: renewal).isWritten
    }

    /// Seals the value with the current key if it is sealed with an older one, and blocks until it is on disk.
    ///
    /// - Throws: The errors of the suspending form.
    @discardableResult
    public func reseal() throws -> Bool {
        try box.changeNow(knowing: renewal).isWritten
    }

    package var renewal: ValueBox<Item?>.KnowingEdit {
        { [keys] value, standing in
            switch standing.condition {
            case .current: nil
            case .older: value.map { .some($0) }
            case .unreadable: throw try Self.fault(keys)
            }
        }
    }

    /// Changes the newest value; the closure gets nil if there is no value.
    ///
    /// - Throws: Also the reason that a stored value cannot be opened, because a new value would overwrite it.
    @discardableResult
    func edit(_ edit: @escaping ValueBox<Item?>.Edit) async throws -> Bool {
        try await box.change(knowing: opened(edit)).isWritten
    }

    /// Changes the newest value, on a thread that may block.
    @discardableResult
    func edit(_ edit: @escaping ValueBox<Item?>.Edit) throws -> Bool {
        try box.changeNow(knowing: opened(edit)).isWritten
    }

    private func opened(_ edit: @escaping ValueBox<Item?>.Edit) -> ValueBox<Item?>.KnowingEdit {
        { [keys] value, standing in
            if standing.condition == .unreadable { throw try Self.fault(keys) }
            return try edit(value)
        }
    }

    /// Returns the reason that a stored value cannot be opened.
    private static func fault(_ keys: Keys) throws(KeychainError) -> KeychainError {
        try keys() == nil ? .missingEntitlement : .couldNotAccessKeychain
    }
}

extension Optional {
    /// Returns the value.
    ///
    /// - Throws: ``KeychainError/itemNotFound`` if there is none.
    fileprivate func orNotFound() throws(KeychainError) -> Wrapped {
        guard let self else { throw .itemNotFound }
        return self
    }
}
