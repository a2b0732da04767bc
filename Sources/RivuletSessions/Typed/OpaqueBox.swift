import RivuletObservation

/// A state, a view or the events of a dispatch, whose type only the session's ``SessionState`` knows.
///
/// A session passes boxes on unopened, so its code is the same for all apps and is compiled once.
class OpaqueBox {
    fileprivate init() {}

    /// The value; `Value` has to be its type.
    @inline(__always)
    final func opened<Value>(as type: Value.Type) -> TypedBox<Value> {
        // SAFETY: a session gets its boxes from one `TypedState`, which opens each as what it put in.
        unsafe unsafeDowncast(self, to: TypedBox<Value>.self)
    }
}

/// A box with its value.
final class TypedBox<Value>: OpaqueBox {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }

    /// A box of the same type.
    ///
    /// Code that is compiled for all apps makes the metadata of a generic type anew each time that it names it; here it is at hand.
    func another(_ value: consuming Value) -> TypedBox { TypedBox(value) }

    /// A box of its own with the same value.
    func copy() -> TypedBox { TypedBox(value) }
}

extension TypedBox where Value: ObservableState {
    /// Settles what the last event left in a state.
    func settle() { value._$settle() }
}
