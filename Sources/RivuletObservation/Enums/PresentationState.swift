/// A child state that exists while it is presented, and is nil otherwise.
///
/// `@Wrapped(Presented.self, projected: true) var alert: Alert?`. An edit inside of the child reports the child's own
/// paths. Presenting, dismissing or replacing the child reports the field. With `projected: true` the field has a
/// `$field`, which shows if a child is presented, and can dismiss it. The child is on the heap, so a state may present
/// a child of its own type. Source: <Tests/Rows/Systems.md#a-21>, F-10.
@propertyWrapper
public struct PresentationState<Value> {
    /// An array of at most one child; an array makes a recursive state possible.
    @usableFromInline var buffer: [Value]

    /// Presents a child; nil presents none.
    @inlinable
    public init(wrappedValue: Value?) {
        buffer = wrappedValue.map { [$0] } ?? []
    }

    /// The child.
    @inlinable public var wrappedValue: Value? {
        get { buffer.first }
        set { buffer = newValue.map { [$0] } ?? [] }
        _modify {
            // The child is taken out during the edit, so that it is not copied.
            var value = buffer.popLast()
            defer { if let value { buffer.append(value) } }
            yield &value
        }
    }

    /// The handle of the field: this wrapper itself.
    @inlinable public var projectedValue: Self {
        get { self }
        set { self = newValue }
    }

    /// True if there is a child.
    @inlinable public var isPresented: Bool { !buffer.isEmpty }

    /// Removes the child.
    @inlinable
    public mutating func dismiss() {
        buffer = []
    }
}

extension PresentationState: ObservableWrapperProjected {
    /// The type of `$field`.
    public typealias ProjectedValue = PresentationState<Value>

    /// Presents a child; nil presents none.
    @inlinable
    public static func makeWrapper(from value: Value?, config: Void) -> Self {
        PresentationState(wrappedValue: value)
    }

    /// Always true: any value is taken as it is.
    @inlinable public static var editsInPlace: Bool { true }
}

extension PresentationState: Equatable where Value: Equatable {}
extension PresentationState: Hashable where Value: Hashable {}
extension PresentationState: Sendable where Value: Sendable {}
