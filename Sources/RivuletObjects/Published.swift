/// The storage of one field with ``Published()``: a value that can be read and written from any thread.
///
/// Each read and each write is atomic. An edit in place (`items.append(x)`, `count += 1`) is a read, then a write, and
/// another thread may write between the two. An edit copies the collection that it edits. A copy of this struct shares
/// the storage, and so is the same field. Source: <Tests/Rows/Systems.md#c-05> to C-07.
public struct Published<Value: Sendable>: Sendable {
    let storage: PublishedStorage<Value>

    /// Makes a field that does not notify subscribers yet.
    public init(wrappedValue: Value) {
        storage = PublishedStorage(wrappedValue)
    }

    /// Makes a field without a value; generated code calls it.
    ///
    /// The enclosing initialiser stores the declared value before any other code reads the field.
    public static func declared() -> Published {
        Published(storage: PublishedStorage(nil))
    }

    private init(storage: PublishedStorage<Value>) {
        self.storage = storage
    }

    /// The value; subscribers are notified before each write, also of an equal value.
    ///
    /// A notified subscriber still reads the old value.
    public var wrappedValue: Value {
        get { storage.value }
        nonmutating set {
            storage.announce()
            storage.value = newValue
        }
    }

    /// The field as a binding; its writes notify subscribers like any other write.
    public var projectedValue: Binding<Value> {
        Binding(get: { wrappedValue }, set: { wrappedValue = $0 })
    }
}

// Generated code calls these functions. The owner is an argument, so that a field is connected even if a `customMirror`
// hides it from `setupPublished()`.
extension Published {
    /// Writes a value without a notification.
    ///
    /// Initialisers call it. The end of an edit calls it too, because ``edit(in:)`` has already notified the
    /// subscribers.
    public func store(_ value: Value) {
        storage.value = value
    }

    /// Notifies subscribers that the value will change, then writes the new value.
    public func set(_ newValue: Value, in owner: some ObservableObject) {
        storage.announce(in: owner)
        storage.value = newValue
    }

    /// Notifies subscribers that the value will change, and returns the value for an edit that ends with ``store(_:)``.
    public func edit(in owner: some ObservableObject) -> Value {
        storage.announce(in: owner)
        return storage.value
    }

    /// The field as a binding.
    public func binding(in owner: some ObservableObject) -> Binding<Value> {
        storage.connectIfSetUp(owner)
        return projectedValue
    }
}

/// A ``Published`` of any value, as a mirror shows it.
protocol PublishedProperty {
    var anyStorage: any AnyPublishedStorage { get }
}

extension Published: PublishedProperty {
    var anyStorage: any AnyPublishedStorage { storage }
}

/// Makes a stored `var` of an ``ObservableObject`` a field that notifies subscribers before each write.
///
/// For a field `name`, `$name` is a ``Binding`` to it.
///
/// The value's type must be Sendable. The field needs a type annotation, unless its value is a literal or `Type(…)`.
/// The field cannot have `willSet` or `didSet`. The storage is a ``Published``. Source: <Tests/Rows/Systems.md#c-05> to
/// C-07, C-10.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_), prefixed(`$`))
public macro Published() = #externalMacro(module: "RivuletMacros", type: "PublishedMacro")
