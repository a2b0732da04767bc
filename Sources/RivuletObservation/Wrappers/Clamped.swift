public import RivuletJSON

/// A value that moves to the nearest bound of its range if it is written outside of the range.
///
/// `@Wrapped(Clamped.self, 0...100) var percent = 50`. Inside of an in-place edit the value may be out of range; it is
/// clamped when the edit ends. Initial, decoded and merged values are clamped too. Source:
/// <Tests/Rows/Systems.md#a-18>.
@propertyWrapper
public struct Clamped<Value: Comparable> {
    /// The value, in range except during an in-place edit.
    public var wrappedValue: Value
    /// The range, with both bounds.
    public let range: ClosedRange<Value>

    /// Clamps a value.
    @inlinable
    public init(wrappedValue: Value, range: ClosedRange<Value>) {
        self.wrappedValue = min(max(wrappedValue, range.lowerBound), range.upperBound)
        self.range = range
    }
}

extension Clamped: ObservableWrapper {
    /// Clamps a value to the range of the configuration.
    @inlinable
    public static func makeWrapper(from value: Value, config: ClosedRange<Value>) -> Self {
        Clamped(wrappedValue: value, range: config)
    }

    /// The shape of the value with its bounds, if they are numbers.
    public static func jsonSchema(of value: JSONSchema, config: ClosedRange<Value>) -> JSONSchema {
        guard
            let lower = config.lowerBound as? any JSONCodable,
            let upper = config.upperBound as? any JSONCodable,
            let minimum = number(lower),
            let maximum = number(upper)
        else { return value }
        let bounds = [JSONSchema.Annotation("minimum", minimum), JSONSchema.Annotation("maximum", maximum)]
        return .annotated(value, bounds)
    }

    private static func number(_ bound: any JSONCodable) -> JSONValue? {
        guard case .number(let text)? = try? JSONValue(encoding: bound) else { return nil }
        return .number(text)
    }
}

extension Clamped: Equatable where Value: Equatable {}
extension Clamped: Hashable where Value: Hashable {}
extension Clamped: Sendable where Value: Sendable {}
