public import FoundationEssentials
public import Observation

/// What tells an observable value from others that are equal to it; generated code names it, so that it needs no import.
public typealias ObservationIdentity = UUID

/// A struct whose fields `withObservationTracking` and `Observations` watch one by one, without an owner that Rivulet knows of.
///
/// Conform by the macro of the same name. A copy made by assignment is observed as its original (lineage): a write to it tells those who
/// watch the original, at once and not when the copy is put back. The identity is for observers only: it takes no part in `==`, in
/// hashing or in coding. In a class with `@Observable`, mark the property that holds such a value with `@ObservationIgnored`, or
/// observers are told of every change of the value.
/// Source: <Tests/Rows/Systems.md#b-01>, B-12, B-13, B-16.
public protocol ObservableValue: Observable {
    // swift-format-ignore: NoLeadingUnderscores
    /// The same in all copies but those of ``copy()``.
    var _$id: UUID { get }

    // swift-format-ignore: NoLeadingUnderscores
    /// The position of the field at a key path; nil when there is no such field.
    static func _$position(of keyPath: PartialKeyPath<Self>) -> Int?

    /// An equal value that nobody watches, with an identity of its own; observable values in it keep theirs.
    func copy() -> Self
}

extension ObservableValue {
    // swift-format-ignore: NoLeadingUnderscores
    /// A type that is written by hand has no fields.
    public static func _$position(of keyPath: PartialKeyPath<Self>) -> Int? { nil }
}

// swift-format-ignore: NoLeadingUnderscores
/// A leaf has no identity.
@inlinable
public func _$identity<Value>(of value: Value) -> ObservationIdentity? { nil }

// swift-format-ignore: NoLeadingUnderscores
/// The identity of a field's value, by its declared type.
@inlinable
public func _$identity<Value: ObservableValue>(of value: Value) -> ObservationIdentity? { value._$id }

// swift-format-ignore: NoLeadingUnderscores
/// The identity of a field's value, if there is one.
@inlinable
public func _$identity<Value: ObservableValue>(of value: Value?) -> ObservationIdentity? { value?._$id }

// swift-format-ignore: NoLeadingUnderscores
/// The identity of the value in a field whose declared type does not tell: a type parameter, or `any` of a protocol.
///
/// An optional counts as its value while it is there.
/// Source: <Tests/Rows/Systems.md#b-08>, B-10, B-15.
@inlinable
public func _$openIdentity<Value>(of value: Value) -> ObservationIdentity? {
    (value as? any ObservableValue)?._$id
}

// swift-format-ignore: NoLeadingUnderscores
/// Whether a write is told, of a field in a class: always, for a value that cannot be compared.
///
/// Source: <Tests/Rows/Systems.md#b-09>.
@inlinable
public func _$isChange<Value>(_ old: Value, _ new: Value) -> Bool { true }

// swift-format-ignore: NoLeadingUnderscores
/// Whether a write is told, of a field in a class.
@inlinable
public func _$isChange<Value: Equatable>(_ old: Value, _ new: Value) -> Bool { old != new }

// swift-format-ignore: NoLeadingUnderscores
/// Whether a write is told, of a field in a class.
@inlinable
public func _$isChange<Value: AnyObject>(_ old: Value, _ new: Value) -> Bool { old !== new }

// swift-format-ignore: NoLeadingUnderscores
/// Whether a write is told, of a field in a class.
@inlinable
public func _$isChange<Value: Equatable & AnyObject>(_ old: Value, _ new: Value) -> Bool { old != new }
