/// A value that is live and observable in process but in no JSON: no answer, stream, log or file.
///
/// After a restart, and when a state is read from JSON, it has its initial value again, so a field in it needs one. For an optional
/// field write `OmitCoding<String?>`.
/// Source: <Tests/Rows/Systems.md#a-19>.
@propertyWrapper
public struct OmitCoding<Value> {
    /// The value.
    public var wrappedValue: Value

    /// Wraps a value.
    @inlinable
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

extension OmitCoding: ObservableWrapper {
    /// Wraps a value.
    @inlinable
    public static func makeWrapper(from value: Value, config: Void) -> Self {
        OmitCoding(wrappedValue: value)
    }

    /// The field is in no JSON.
    @inlinable public static var isOmittedFromCoding: Bool { true }

    /// Any value is taken as it is.
    @inlinable public static var editsInPlace: Bool { true }
}

extension OmitCoding: Equatable where Value: Equatable {}
extension OmitCoding: Hashable where Value: Hashable {}
extension OmitCoding: Sendable where Value: Sendable {}
