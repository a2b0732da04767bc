public import RivuletJSON

/// A type that keeps a field's value and may change what is written to it.
///
/// A wrapper is used by `@ObservableStateWrapper`. Every write makes a fresh wrapper of the value, so whatever else a wrapper keeps
/// is lost with it. A wrapper that changes a value should be `Equatable` in it: only then can the change be reported.
/// Source: <Tests/Rows/Systems.md#a-17>.
public protocol ObservableWrapper<WrappedValue> {
    /// The type that the field shows.
    associatedtype WrappedValue
    /// What `config:` takes.
    associatedtype Config = Void

    /// The value as the field shows it.
    var wrappedValue: WrappedValue { get set }

    /// Makes a wrapper of a written value, which it may change.
    static func makeWrapper(from value: WrappedValue, config: Config) -> Self

    /// Whether the field is kept out of all JSON: answers, streams, logs and disk; false unless said otherwise.
    static var isOmittedFromCoding: Bool { get }

    /// Whether an in-place edit of `wrappedValue` needs no `makeWrapper` after it; false unless said otherwise.
    ///
    /// True only for a wrapper that takes any value as it is.
    static var editsInPlace: Bool { get }

    /// The shape of the field's JSON, from the shape of its value; the same unless said otherwise.
    static func jsonSchema(of value: JSONSchema, config: Config) -> JSONSchema
}

extension ObservableWrapper {
    /// The field is in JSON.
    @inlinable public static var isOmittedFromCoding: Bool { false }

    /// An edited value goes through `makeWrapper`.
    @inlinable public static var editsInPlace: Bool { false }

    /// The wrapper does not restrict the shape.
    public static func jsonSchema(of value: JSONSchema, config: Config) -> JSONSchema { value }
}

extension ObservableWrapper where Config == Void {
    /// Makes a wrapper that needs no configuration.
    @inlinable
    public static func makeWrapper(from value: WrappedValue) -> Self {
        makeWrapper(from: value, config: ())
    }
}

/// A wrapper with a second face, `$field`.
///
/// The wrapper needs a `projectedValue: ProjectedValue { get set }`, on which the generated `$field` is built.
public protocol ObservableWrapperProjected<WrappedValue>: ObservableWrapper {
    /// The type of `$field`.
    associatedtype ProjectedValue
}
