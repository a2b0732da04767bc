/// The rules by which a field's observers are told, and by which a value comes to have observers.
///
/// | | field of `@ObservableState` | the same in a wrapper | field of `@ObservableValue` |
/// |---|---|---|---|
/// | a whole write of an equal value | silent | told | silent, as the type's own comparer says |
/// | an edit in place | told | told | told, and counts as a read |
/// | who gives a value its observers | its owner, ``ObservedState`` | the same | itself, when it is made |
///
/// The first row is in ``ObservationStateRegistrar``: `set` of a leaf, of a wrapper, and `willSet` of a value. The others are here. Change
/// streams have one rule for all, the net difference; these are for Swift's `Observation` in process.
/// Source: <Tests/Rows/Systems.md#notification>.
public enum ObservationRules: Sendable {
    /// A value is observed through its owner.
    case state
    /// Every value is born observable.
    case value

    /// Whether an in-place edit counts as a read of the field.
    @inlinable var countsEditsAsReads: Bool { self == .value }

    /// Whether a value has a place of its own from the start, and is not given one by what holds it.
    @inlinable var isBornObservable: Bool { self == .value }
}
