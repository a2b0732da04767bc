// Part of Rivulet. See README.md for the architecture.
// Owns the wrapper of a secret that outlives the process.

import FoundationEssentials
public import Logging
import RivuletJSON

/// A value that is sealed at rest, or nil while there is none.
///
/// No log, no error and no description has anything of the value. A document that cannot be opened counts as absent and is told to the
/// log; it stays until a value is set or removed. Each function is there twice: inside of `async` functions it suspends, elsewhere it blocks
/// the thread until the value is on disk.
/// Source: spec/systems.md E-22 to E-24.
@propertyWrapper
public final class SecurelyStoredValue<Item: Codable & Sendable>: Sendable {
    /// Its name within its service and group.
    public let key: String
    /// What it is for; nil: nothing in particular.
    public let service: KeychainService?
    /// Whom it belongs to; nil: nobody in particular.
    public let group: KeychainGroup?
    let box: ValueBox<Item?>

    /// A secret of a storage; nothing is read before it is asked for.
    ///
    /// - Parameters:
    ///   - key: Any text; one value of a service and a group has it.
    ///   - service: What it is for.
    ///   - group: Whom it belongs to.
    ///   - storage: Where it is kept.
    ///   - keys: What seals it; nil: there is none, and to set a value is an error.
    ///   - logger: Takes what goes wrong where nothing can be thrown.
    public init(
        key: String,
        service: KeychainService? = nil,
        group: KeychainGroup? = nil,
        storage: ItemCollection,
        keys: SealingKeys?,
        logger: Logger = Logger(label: "rivulet.stores")
    ) {
        self.key = key
        self.service = service
        self.group = group
        let place = Self.place(key, service, group)
        box = ValueBox(
            key: place,
            storage: storage,
            form: ValueForm(
                document: { value in
                    guard let value else { return nil }
                    guard let keys else { throw KeychainError.missingEntitlement }
                    return try SealedDocument.seal(
                        try StoredBox.document(of: value, key: key),
                        at: place,
                        with: keys.current
                    )
                },
                value: { document in
                    guard let document else { return nil }
                    guard let keys else { throw SealedDocument.Fault.otherKey }
                    let bytes = try SealedDocument.open(document, at: place, with: keys)
                    do throws(JSONError) {
                        return try StoredBox.value(Item.self, of: bytes)
                    } catch {
                        // The error itself may repeat a part of the secret.
                        throw SealedDocument.Fault.otherType("\(Item.self)")
                    }
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
        _ = try await box.change({ $0 == nil ? nil : .some(nil) }, clearsDamage: true)
    }

    /// The same, and blocks until it is off the disk.
    ///
    /// - Throws: as the other one.
    public func remove() throws {
        _ = try box.changeNow({ $0 == nil ? nil : .some(nil) }, clearsDamage: true)
    }

    /// Seals the value with the current key, whichever it was sealed with, so that an older one can be taken away.
    ///
    /// - Throws: as ``set(_:)``.
    public func reseal() async throws {
        _ = try await box.change { $0.map { .some($0) } }
    }
}
