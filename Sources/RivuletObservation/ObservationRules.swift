// Part of Rivulet. See README.md for the architecture.
// This file owns what differs between @ObservableState, fields in wrappers and @ObservableValue; all else is one mechanism.

/// The rules by which a field's observers are told, and by which a value comes to have observers.
///
/// Change streams have one rule for all, the net difference; these are for Swift's `Observation` in process.
/// Source: spec/systems.md §1.
public enum ObservationRules: Sendable {
    /// A plain field of `@ObservableState`; the value is observed through its owner, ``ObservedState``.
    case state
    /// A field of `@ObservableState` in a wrapper.
    case wrapper
    /// A field of `@ObservableValue`; every such value is born observable.
    case value

    /// Whether a whole-value write of an equal value is told to nobody.
    @inlinable var comparesWrites: Bool { self != .wrapper }

    /// Whether an in-place edit counts as a read of the field.
    @inlinable var countsEditsAsReads: Bool { self == .value }

    /// Whether a value has a place of its own from the start, and is not given one by what holds it.
    @inlinable var isBornObservable: Bool { self == .value }
}
