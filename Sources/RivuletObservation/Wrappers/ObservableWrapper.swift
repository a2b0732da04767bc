public import RivuletJSON

/// A type that keeps a field's value and may change a value that is written to it.
///
/// A wrapper is used by `@Wrapped`, and by the long form, `@ObservableStateWrapper`. Every write makes a fresh wrapper
/// of the value, so anything else in the wrapper is lost. If a wrapper changes values, their type should be
/// `Equatable`: only then is the change reported. Source: <Tests/Rows/Systems.md#a-17>.
public protocol ObservableWrapper<WrappedValue> {
    /// The type that the field shows.
    associatedtype WrappedValue
    /// The type of the `config:` argument.
    associatedtype Config = Void

    /// The value as the field shows it.
    var wrappedValue: WrappedValue { get set }

    /// Makes a wrapper of a written value, which it may change.
    static func makeWrapper(from value: WrappedValue, config: Config) -> Self

    /// True if the field is kept out of all JSON: answers, streams, logs and disk; false by default.
    static var isOmittedFromCoding: Bool { get }

    /// True if an in-place edit of `wrappedValue` needs no `makeWrapper` after it; false by default.
    ///
    /// Only a wrapper that takes any value as it is may return true.
    static var editsInPlace: Bool { get }

    /// The shape of the field's JSON, from the shape of its value; the same by default.
    static func jsonSchema(of value: JSONSchema, config: Config) -> JSONSchema
}

extension ObservableWrapper {
    /// False by default: the field is in JSON.
    @inlinable public static var isOmittedFromCoding: Bool { false }

    /// False by default: an edited value goes through `makeWrapper`.
    @inlinable public static var editsInPlace: Bool { false }

    /// Returns the shape of the value.
    public static func jsonSchema(of value: JSONSchema, config: Config) -> JSONSchema { value }
}

extension ObservableWrapper where Config == Void {
    /// Makes a wrapper that needs no configuration.
    @inlinable
    public static func makeWrapper(from value: WrappedValue) -> Self {
        makeWrapper(from: value, config: ())
    }
}

/// A wrapper with a projected value, `$field`.
///
/// The wrapper needs a `projectedValue: ProjectedValue { get set }`, from which `$field` is generated.
public protocol ObservableWrapperProjected<WrappedValue>: ObservableWrapper {
    /// The type of `$field`.
    associatedtype ProjectedValue
}
