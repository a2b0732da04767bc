/// A way to read and write a value that is stored elsewhere; safe from any thread if its two functions are.
///
/// Source: <Tests/Rows/Systems.md#c-10>.
@propertyWrapper
@dynamicMemberLookup
public struct Binding<Value: Sendable>: Sendable {
    private let read: @Sendable () -> Value
    private let write: @Sendable (Value) -> Void

    /// Makes a binding from two functions.
    public init(get: @escaping @Sendable () -> Value, set: @escaping @Sendable (Value) -> Void) {
        read = get
        write = set
    }

    /// Makes a copy of a binding.
    public init(projectedValue: Binding) {
        self = projectedValue
    }

    /// A binding that always has this value; writes are ignored.
    public static func constant(_ value: Value) -> Binding {
        Binding(get: { value }, set: { _ in })
    }

    /// The value that the binding reads and writes.
    public var wrappedValue: Value {
        get { read() }
        nonmutating set { write(newValue) }
    }

    /// The binding itself.
    public var projectedValue: Binding { self }

    /// A binding to a part of the value; a write reads the whole value, changes the part, and writes the whole value.
    public subscript<Part: Sendable>(
        dynamicMember keyPath: any WritableKeyPath<Value, Part> & Sendable
    ) -> Binding<Part> {
        Binding<Part>(
            get: { read()[keyPath: keyPath] },
            set: { part in
                var value = read()
                value[keyPath: keyPath] = part
                write(value)
            }
        )
    }
}

/// Makes a binding that passes its writes to `send`; a value that equals the result of `get` is not sent.
///
/// `send` should dispatch an event. The result of `get` changes after the event has been reduced, not before.
/// Source: <Tests/Rows/Systems.md#d-29>.
public func makeBinding<T: Equatable & Sendable>(
    get: @escaping @Sendable () -> T,
    send: @escaping @Sendable (T) -> Void
) -> Binding<T> {
    Binding(
        get: get,
        set: { newValue in
            guard newValue != get() else { return }
            send(newValue)
        }
    )
}
