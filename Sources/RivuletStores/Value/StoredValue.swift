public import Logging
import RivuletBase
public import RivuletObjects

/// A value that is stored under a key, with a default while nothing is stored.
///
/// The wrapped value is read-only; `$name.set(_:)` and similar functions change it. Each of them exists twice. In
/// `async` functions it suspends and throws. Elsewhere it blocks the thread until the value is on disk; if the change
/// fails, it logs the error. An instance reads its value once: two instances with one key do not see each other's later
/// writes. Source: <Tests/Rows/Systems.md#e-18> to E-21.
@propertyWrapper
public final class StoredValue<Item: Codable & Sendable>: Sendable {
    /// The key of the stored value.
    public let key: String
    /// The value while no value is stored, and after a reset.
    public let defaultValue: Item
    package let box: ValueBox<Item>
    private let logger: Logger

    /// Creates a value of a storage.
    ///
    /// Nothing is read before the value is used.
    ///
    /// - Parameters:
    ///   - key: Any text, unique to this value.
    ///   - default: The value while no readable value is stored.
    ///   - storage: The collection that stores the value.
    ///   - logger: Receives errors that cannot be thrown.
    public init(
        key: String,
        default: Item,
        storage: ItemCollection,
        logger: Logger = Logger(label: "rivulet.stores")
    ) {
        self.key = key
        defaultValue = `default`
        self.logger = logger
        box = ValueBox(
            key: key,
            storage: storage,
            codec: ValueCodec(
                document: { try StoredBox.document(of: $0, key: key) },
                value: { try $0.map { try StoredBox.value(Item.self, of: $0) } ?? `default` },
                defaultValue: `default`
            ),
            logger: logger
        )
    }

    /// Creates a value in a property declaration; the property's initial value is the default.
    public convenience init(
        wrappedValue: Item,
        key: String,
        storage: ItemCollection,
        logger: Logger = Logger(label: "rivulet.stores")
    ) {
        self.init(key: key, default: wrappedValue, storage: storage, logger: logger)
    }

    /// The value.
    ///
    /// The first read loads it from the storage, which blocks the thread.
    public var wrappedValue: Item { box.value }

    /// The value's object, with the functions that change the value.
    public var projectedValue: StoredValue { self }

    /// The current value, then each value that is set, also an equal one.
    ///
    /// A reader that is more than 1,024 values behind misses the oldest values, never the newest.
    public var values: AsyncStream<Item> { box.values }

    /// A binding to the value; writes block until they are on disk.
    public var binding: Binding<Item> {
        Binding(get: { self.wrappedValue }, set: { self.set($0) })
    }

    /// Stores a value, which is on disk on return.
    ///
    /// - Throws: ``ItemStorageError`` or ``StoreError``. Nothing has changed then, unless the error is `indeterminate`.
    ///   A value that could not be read again after a restart is an error too. An example is a value with a transient
    ///   field that has no initial value.
    public func set(_ value: Item) async throws {
        try await edit { _ in value }
    }

    /// Stores a value, and blocks until it is on disk.
    public func set(_ value: Item) {
        edit { _ in value }
    }

    /// Stores the default.
    ///
    /// - Throws: The errors of ``set(_:)``.
    public func reset() async throws {
        try await set(defaultValue)
    }

    /// Stores the default, and blocks until it is on disk.
    public func reset() {
        set(defaultValue)
    }

    /// Changes the newest value; returns false if nothing was written.
    @discardableResult
    func edit(_ edit: @escaping ValueBox<Item>.Edit) async throws -> Bool {
        try await box.change(edit).isWritten
    }

    /// Changes the newest value, on a thread that may block; returns false if nothing was written.
    @discardableResult
    func edit(_ edit: @escaping ValueBox<Item>.Edit) -> Bool {
        do {
            return try box.changeNow(edit).isWritten
        } catch {
            logger.error("a stored value was not written: \(LogText.of(error))", metadata: ["key": "\(key)"])
            return false
        }
    }
}
