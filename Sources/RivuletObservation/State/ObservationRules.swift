/// The rules by which a field's observers are notified, and by which a value gets its node.
///
/// | | field of `@ObservableState` | the same in a wrapper | field of `@ObservableValue` |
/// |---|---|---|---|
/// | a whole write of an equal value | silent | notified | silent, unless `shouldNotifyObservers` returns true |
/// | an edit in place | notified | notified | notified, and also a read |
/// | the source of a value's node | its owner, ``ObservedState`` | the same | the value itself, when it is made |
///
/// ``ObservationStateRegistrar`` implements the first row: `set` for leaves and wrappers, and `willSet` for the fields
/// of an `@ObservableValue`. This enum decides the other rows. These rules are for Swift's `Observation` in the
/// process. Change streams report the net difference for all fields. Source: <Tests/Rows/Systems.md#notification>.
public enum ObservationRules: Sendable {
    /// A value is observed through its owner.
    case state
    /// Every value is born observable.
    case value

    /// True if an in-place edit is also a read of the field.
    @inlinable var countsEditsAsReads: Bool { self == .value }

    /// True if a value has a node of its own from the start, and gets none from its container.
    @inlinable var isBornObservable: Bool { self == .value }
}
