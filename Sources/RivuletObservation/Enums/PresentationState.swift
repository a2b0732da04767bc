/// A child state that is there while it is presented, and nil otherwise.
///
/// An edit inside of the child reports the child's own paths; presenting, dismissing and replacing it reports the field. With
/// `projected: true` the field has a `$field`, which says whether it is presented and can dismiss it. The child is on the heap, so
/// a state may present itself.
/// Source: <Tests/Rows/Systems.md#a-21>, F-10.
@propertyWrapper
public struct PresentationState<Value> {
    /// The child, or nothing: the buffer is what makes a recursive state possible.
    @usableFromInline var buffer: [Value]

    /// Presents a child, or none.
    @inlinable
    public init(wrappedValue: Value?) {
        buffer = wrappedValue.map { [$0] } ?? []
    }

    /// The child.
    @inlinable public var wrappedValue: Value? {
        get { buffer.first }
        set { buffer = newValue.map { [$0] } ?? [] }
        _modify {
            // Taken out for the time of the edit, so that the child is not copied.
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

    /// Whether there is a child.
    @inlinable public var isPresented: Bool { !buffer.isEmpty }

    /// Removes the child.
    @inlinable
    public mutating func dismiss() {
        buffer = []
    }
}

extension PresentationState: ObservableWrapperProjected {
    /// What `$field` gives.
    public typealias ProjectedValue = PresentationState<Value>

    /// Presents a child, or none.
    @inlinable
    public static func makeWrapper(from value: Value?, config: Void) -> Self {
        PresentationState(wrappedValue: value)
    }

    /// Any value is taken as it is.
    @inlinable public static var editsInPlace: Bool { true }
}

extension PresentationState: Equatable where Value: Equatable {}
extension PresentationState: Hashable where Value: Hashable {}
extension PresentationState: Sendable where Value: Sendable {}
