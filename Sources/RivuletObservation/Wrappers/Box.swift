/// A value on the heap, so that copies of the state around it are small and cheap.
///
/// `@Wrapped(Boxed.self) var history: [Int] = []`. Copies share the value until one of them is written (copy on write),
/// so writing a copy never changes the original. A value that is not shared is edited in place, without a copy. Source:
/// <Tests/Rows/Systems.md#a-20>.
@propertyWrapper
public struct Box<Value> {
    /// Exactly one element: an array is a heap buffer with the uniqueness test built in, and Sendable when its element
    /// is.
    @usableFromInline var buffer: [Value]

    /// Puts a value on the heap.
    @inlinable
    public init(_ value: Value) {
        buffer = [value]
    }

    /// Puts a value on the heap.
    @inlinable
    public init(wrappedValue: Value) {
        buffer = [wrappedValue]
    }

    /// The value.
    @inlinable public var wrappedValue: Value {
        get { buffer[0] }
        set { buffer = [newValue] }
        _modify { yield &buffer[0] }
    }
}

extension Box: ObservableWrapper {
    /// Puts a value on the heap.
    @inlinable
    public static func makeWrapper(from value: Value, config: Void) -> Self {
        Box(value)
    }

    /// Always true: any value is taken as it is.
    @inlinable public static var editsInPlace: Bool { true }
}

extension Box: Equatable where Value: Equatable {}
extension Box: Hashable where Value: Hashable {}
extension Box: Sendable where Value: Sendable {}
