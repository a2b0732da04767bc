/// A value that is live and observable in process but in no JSON: no answer, stream, log or file.
///
/// `@Wrapped(Omitted.self) var note: String?`. A field in this wrapper needs an initial value. It has that value again
/// after a restart, and when a state is read from JSON. Source: <Tests/Rows/Systems.md#a-19>.
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

    /// Always true: the field is in no JSON.
    @inlinable public static var isOmittedFromCoding: Bool { true }

    /// Always true: any value is taken as it is.
    @inlinable public static var editsInPlace: Bool { true }
}

extension OmitCoding: Equatable where Value: Equatable {}
extension OmitCoding: Hashable where Value: Hashable {}
extension OmitCoding: Sendable where Value: Sendable {}
