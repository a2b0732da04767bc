public import FoundationEssentials
public import Observation

/// The identity that distinguishes an observable value from equal values.
///
/// Generated code uses this name, so that it needs no import.
public typealias ObservationIdentity = UUID

/// A struct with fields that `withObservationTracking` and `Observations` observe one by one, without an
/// ``ObservedState`` as the owner.
///
/// Conform by the macro of the same name. A copy made by assignment is observed as its original (lineage): a write to
/// the copy notifies the observers of the original. They are notified at once, and not when the copy is put back. The
/// identity is for observers only: it takes no part in `==`, in hashing or in coding. In a class with `@Observable`,
/// mark the property that holds such a value with `@ObservationIgnored`. Otherwise observers are notified of every
/// change of the value. Source: <Tests/Rows/Systems.md#b-01>, B-12, B-13, B-16.
public protocol ObservableValue: Observable {
    // swift-format-ignore: NoLeadingUnderscores
    /// The identity, the same in all copies except those of ``copy()``.
    var _$id: UUID { get }

    // swift-format-ignore: NoLeadingUnderscores
    /// The position of the field at a key path; nil if there is no such field.
    static func _$position(of keyPath: PartialKeyPath<Self>) -> Int?

    /// Returns an equal value without observers, with an identity of its own.
    ///
    /// Observable values in its fields keep their identities.
    func copy() -> Self
}

extension ObservableValue {
    // swift-format-ignore: NoLeadingUnderscores
    /// Always nil: a type without the macro has no observed fields.
    public static func _$position(of keyPath: PartialKeyPath<Self>) -> Int? { nil }
}

// swift-format-ignore: NoLeadingUnderscores
/// Always nil: a leaf has no identity.
@inlinable
public func _$identity<Value>(of value: Value) -> ObservationIdentity? { nil }

// swift-format-ignore: NoLeadingUnderscores
/// Returns the identity of a field's value, by its declared type.
@inlinable
public func _$identity<Value: ObservableValue>(of value: Value) -> ObservationIdentity? { value._$id }

// swift-format-ignore: NoLeadingUnderscores
/// Returns the identity of a field's value, if there is one.
@inlinable
public func _$identity<Value: ObservableValue>(of value: Value?) -> ObservationIdentity? { value?._$id }

// swift-format-ignore: NoLeadingUnderscores
/// Returns the identity of a field's value by its dynamic type, for a declared type that does not show it: a type
/// parameter, or `any` of a protocol.
///
/// The identity of an optional is that of its value.
/// Source: <Tests/Rows/Systems.md#b-08>, B-10, B-15.
@inlinable
public func _$openIdentity<Value>(of value: Value) -> ObservationIdentity? {
    (value as? any ObservableValue)?._$id
}

// swift-format-ignore: NoLeadingUnderscores
/// Always true: in a class, every write to a field that cannot be compared notifies observers.
///
/// Source: <Tests/Rows/Systems.md#b-09>.
@inlinable
public func _$isChange<Value>(_ old: Value, _ new: Value) -> Bool { true }

// swift-format-ignore: NoLeadingUnderscores
/// Returns true if the values differ, so that a write to a field in a class notifies observers.
@inlinable
public func _$isChange<Value: Equatable>(_ old: Value, _ new: Value) -> Bool { old != new }

// swift-format-ignore: NoLeadingUnderscores
/// Returns true if the objects differ, so that a write to a field in a class notifies observers.
@inlinable
public func _$isChange<Value: AnyObject>(_ old: Value, _ new: Value) -> Bool { old !== new }

// swift-format-ignore: NoLeadingUnderscores
/// Returns true if the values differ, so that a write to a field in a class notifies observers.
@inlinable
public func _$isChange<Value: Equatable & AnyObject>(_ old: Value, _ new: Value) -> Bool { old != new }
