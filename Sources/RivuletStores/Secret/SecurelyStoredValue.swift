import FoundationEssentials
public import Logging
import RivuletJSON
public import RivuletObjects

/// A value that is sealed at rest, or nil while there is none.
///
/// No log, no error and no description has anything of the value. A document that cannot be opened reads as nil and is told to the
/// log; it stays until a value is set or removed, and what changes a part of the value is an error until then. Each function is there twice: inside of `async` functions it suspends, elsewhere it blocks
/// the thread until the value is on disk.
/// Source: <Tests/Rows/Systems.md#e-22> to E-24.
@propertyWrapper
public final class SecurelyStoredValue<Item: Codable & Sendable>: Sendable {
    /// Its name within its service and group.
    public let key: String
    /// What it is for; nil: nothing in particular.
    public let service: KeychainService?
    /// Whom it belongs to; nil: nobody in particular.
    public let group: KeychainGroup?
    package let box: ValueBox<Item?>
    private let keys: Keys
    private let logger: Logger

    /// Gives what seals values, each time that a value is sealed or opened; nil: there is none.
    package typealias Keys = @Sendable () throws(KeychainError) -> SealingKeys?

    /// A secret of a storage; nothing is read before it is asked for.
    ///
    /// - Parameters:
    ///   - key: Any text; one value of a service and a group has it.
    ///   - service: What it is for.
    ///   - group: Whom it belongs to.
    ///   - storage: Where it is kept.
    ///   - keys: What seals it; nil: there is none, and to set a value is an error.
    ///   - logger: Takes what goes wrong where nothing can be thrown.
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

    /// A secret of a storage, whose keys are asked for when it is read or set for the first time.
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
        let place = Self.place(key, service, group)
        box = ValueBox(
            key: place,
            storage: storage,
            form: ValueForm(
                document: { value in
                    guard let value else { return nil }
                    guard let keys = try keys() else { throw KeychainError.missingEntitlement }
                    let document = try StoredBox.document(of: value, key: key)
                    return try SealedDocument.seal(document, at: place, with: keys.current)
                },
                value: { document in
                    guard let document else { return nil }
                    guard let keys = try keys() else { throw SealedDocument.Fault.otherKey }
                    let bytes = try SealedDocument.open(document, at: place, with: keys)
                    do throws(JSONError) {
                        return try StoredBox.value(Item.self, of: bytes)
                    } catch {
                        // The error itself may repeat a part of the secret.
                        throw SealedDocument.Fault.otherType("\(Item.self)")
                    }
                },
                isOlder: { document in
                    guard let keys = try keys() else { return false }
                    return !SealedDocument.isSealed(document, with: keys.current)
                },
                standard: nil
            ),
            logger: logger
        )
    }

    /// The three names as one, which no other three make.
    private static func place(_ key: String, _ service: KeychainService?, _ group: KeychainGroup?) -> String {
        var writer = JSONWriter()
        writer.beginArray()
        for name in [service?.rawValue, group?.rawValue, key] {
            if let name { writer.string(name) } else { writer.null() }
        }
        writer.endArray()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The value; nil: there is none, or none that opens.
    ///
    /// The first time it is read from storage, which blocks the thread.
    public var wrappedValue: Item? { box.value }

    /// What changes the value.
    public var projectedValue: SecurelyStoredValue { self }

    /// The value now, then each one that was set, nil for one that was removed.
    ///
    /// A reader that is more than 1,024 values behind misses the oldest, never the newest.
    public var values: AsyncStream<Item?> { box.values }

    /// A binding to the value; a write blocks until it is on disk, and nil removes the value.
    ///
    /// A write that fails is told to the log and changes nothing: a binding cannot throw, ``set(_:)-(Item?)`` can.
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

    /// Seals and stores a value, nil removes it; it is on disk on return.
    ///
    /// - Throws: ``KeychainError/missingEntitlement`` without a key, ``StoreError``, ``ItemStorageError``; nothing has changed then.
    public func set(_ value: Item?) async throws {
        guard let value else { return try await remove() }
        _ = try await box.change { _ in value }
    }

    /// Seals and stores a value, nil removes it, and blocks until it is on disk.
    ///
    /// - Throws: as the other one.
    public func set(_ value: Item?) throws {
        guard let value else { return try remove() }
        _ = try box.changeNow { _ in value }
    }

    /// Removes the value, also one that does not open; without one nothing happens, and no stream tells of it.
    ///
    /// - Throws: ``ItemStorageError``; nothing has changed then.
    public func remove() async throws {
        _ = try await box.change(knowing: Self.removal)
    }

    /// The same, and blocks until it is off the disk.
    ///
    /// - Throws: as the other one.
    public func remove() throws {
        _ = try box.changeNow(knowing: Self.removal)
    }

    package static var removal: ValueBox<Item?>.KnowingEdit {
        { value, standing in value == nil && standing.condition != .unreadable ? nil : .some(nil) }
    }

    /// The value, or why there is none.
    ///
    /// - Throws: ``KeychainError/itemNotFound`` where none was set, ``KeychainError/couldNotAccessKeychain`` where one was that cannot be
    ///   opened, ``KeychainError/missingEntitlement`` where there is no key to open it with, ``ItemStorageError``.
    public func value() async throws -> Item {
        try await box.change(knowing: presence).after.orNotFound()
    }

    /// The same, and blocks while it is read for the first time.
    ///
    /// - Throws: as the other one.
    public func value() throws -> Item {
        try box.changeNow(knowing: presence).after.orNotFound()
    }

    private var presence: ValueBox<Item?>.KnowingEdit {
        { [keys] _, standing in
            if standing.condition == .unreadable { throw try Self.fault(keys) }
            return nil
        }
    }

    /// Seals the value with the current key where it is sealed with an older one, so that that one can be taken away.
    ///
    /// - Returns: whether it was written; not where it is sealed with the current key, or where there is none.
    /// - Throws: ``KeychainError/couldNotAccessKeychain`` for a value that no key opens, ``KeychainError/missingEntitlement`` without a key,
    ///   ``ItemStorageError``; nothing has changed then.
    @discardableResult
    public func reseal() async throws -> Bool {
        try await box.change(knowing: renewal).isWritten
    }

    /// The same, and blocks until it is on disk.
    ///
    /// - Throws: as the other one.
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

    /// Makes a change on the newest value; nil: there is none.
    ///
    /// - Throws: also what keeps a value from being opened that is there: it is not one to begin anew.
    @discardableResult
    func edit(_ edit: @escaping ValueBox<Item?>.Edit) async throws -> Bool {
        try await box.change(knowing: opened(edit)).isWritten
    }

    /// The same for a thread that can wait.
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

    /// Why a value that is there cannot be opened.
    private static func fault(_ keys: Keys) throws(KeychainError) -> KeychainError {
        try keys() == nil ? .missingEntitlement : .couldNotAccessKeychain
    }
}

extension Optional {
    /// The value.
    ///
    /// - Throws: ``KeychainError/itemNotFound`` where there is none.
    fileprivate func orNotFound() throws(KeychainError) -> Wrapped {
        guard let self else { throw .itemNotFound }
        return self
    }
}
