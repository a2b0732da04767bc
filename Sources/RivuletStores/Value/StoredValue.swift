public import Logging
import RivuletBase
public import RivuletObjects

/// A value that is stored under a key, with a default while nothing is.
///
/// The wrapped value is read-only; `$name.set(_:)` and its like change it. Each of them is there twice: inside of `async` functions it
/// suspends and throws, elsewhere it blocks the thread until the value is on disk, and logs an error, with nothing changed, where storage
/// does not take it. An instance reads its value once: two instances with one key do not see each other's later writes.
/// Source: <Tests/Rows/Systems.md#e-18> to E-21.
@propertyWrapper
public final class StoredValue<Item: Codable & Sendable>: Sendable {
    /// The key under which it is stored.
    public let key: String
    /// What it is without a stored value, and after a reset.
    public let defaultValue: Item
    package let box: ValueBox<Item>
    private let logger: Logger

    /// A value of a storage; nothing is read before it is asked for.
    ///
    /// - Parameters:
    ///   - key: Any text; one value has it.
    ///   - default: What it is while nothing that can be read is stored.
    ///   - storage: Where it is kept.
    ///   - logger: Takes what goes wrong where nothing can be thrown.
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
            form: ValueForm(
                document: { try StoredBox.document(of: $0, key: key) },
                value: { try $0.map { try StoredBox.value(Item.self, of: $0) } ?? `default` },
                standard: `default`
            ),
            logger: logger
        )
    }

    /// The same in a property declaration, whose initial value is the default.
    public convenience init(
        wrappedValue: Item,
        key: String,
        storage: ItemCollection,
        logger: Logger = Logger(label: "rivulet.stores")
    ) {
        self.init(key: key, default: wrappedValue, storage: storage, logger: logger)
    }

    /// The value; the first time it is read from storage, which blocks the thread.
    public var wrappedValue: Item { box.value }

    /// What changes the value.
    public var projectedValue: StoredValue { self }

    /// The value now, then each one that was set, equal ones too.
    ///
    /// A reader that is more than 1,024 values behind misses the oldest, never the newest.
    public var values: AsyncStream<Item> { box.values }

    /// A binding to the value; writes block until they are on disk.
    public var binding: Binding<Item> {
        Binding(get: { self.wrappedValue }, set: { self.set($0) })
    }

    /// Stores a value; it is on disk on return.
    ///
    /// - Throws: ``ItemStorageError``, or ``StoreError``, also for a value that could not be read again after a restart, as one with a
    ///   transient field without an initial value; nothing has changed then.
    public func set(_ value: Item) async throws {
        try await edit { _ in value }
    }

    /// Stores a value, and blocks until it is on disk.
    public func set(_ value: Item) {
        edit { _ in value }
    }

    /// Stores the default.
    ///
    /// - Throws: as ``set(_:)``.
    public func reset() async throws {
        try await set(defaultValue)
    }

    /// Stores the default, and blocks until it is on disk.
    public func reset() {
        set(defaultValue)
    }

    /// Makes a change on the newest value.
    @discardableResult
    func edit(_ edit: @escaping ValueBox<Item>.Edit) async throws -> Bool {
        try await box.change(edit).isWritten
    }

    /// The same for a thread that can wait; false where nothing was written.
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
