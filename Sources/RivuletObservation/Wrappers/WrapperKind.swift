/// A kind of wrappers, which the type of a field completes: `Boxed` for a field of type `[Int]` is a `Box<[Int]>`.
///
/// A kind has one member, a type alias for the wrapper of a type: `typealias Of<Value> = Box<Value>`. A protocol cannot
/// require a generic type alias. The compiler therefore reports a missing alias only where `@Wrapped` uses the kind. A
/// generic wrapper of an app needs a kind for `@Wrapped`. A wrapper that is not generic is its own kind.
public protocol WrapperKind {}

// Macros use `_$Kind` because the compiler (Swift 6.3) crashes at a generic type alias of a generic type without
// arguments. For `_$Kind` of such a type it reports an error.

extension WrapperKind {
    // swift-format-ignore: NoLeadingUnderscores
    /// The kind itself.
    public typealias _$Kind = Self
}

extension ObservableWrapper {
    // swift-format-ignore: NoLeadingUnderscores
    /// The kind that has only this wrapper.
    public typealias _$Kind = Generated.SingleWrapper<Self>
}

extension Generated {
    /// The kind of a wrapper that is not generic; generated code uses it.
    public enum SingleWrapper<Wrapper: ObservableWrapper>: WrapperKind {
        /// The wrapper, for a field of any type.
        public typealias Of<Value> = Wrapper
    }
}

/// The kind of ``Box``: a large value on the heap, copied on write.
public enum Boxed: WrapperKind {
    /// The wrapper of a type.
    public typealias Of<Value> = Box<Value>
}

/// The kind of ``OmitCoding``: a value in memory only, in no JSON.
public enum Omitted: WrapperKind {
    /// The wrapper of a type.
    public typealias Of<Value> = OmitCoding<Value>
}

/// The kind of ``PresentationState``: a child that is shown or not, in an optional field.
public enum Presented: WrapperKind {
    /// The wrapper of an optional type.
    public typealias Of<Child: Generated.OptionalValue> = PresentationState<Child.Wrapped>
}

extension Generated {
    /// The type of an optional; only `Optional` conforms.
    public protocol OptionalValue {
        /// The type of the value, if there is one.
        associatedtype Wrapped
    }
}

extension Optional: Generated.OptionalValue {}
