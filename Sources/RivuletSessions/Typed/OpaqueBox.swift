/// A state, a view or the events of a dispatch, whose type only the session's ``SessionState`` knows.
///
/// A session passes boxes on unopened, so its code is the same for all apps and is compiled once.
class OpaqueBox {
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
}

/// The events of one dispatch, at least one.
///
/// Nearly every dispatch has one, for which no array is made.
struct EventBatch<Event> {
    let first: Event
    let others: [Event]

    var count: Int { 1 + others.count }

    /// The event at an index from 0.
    subscript(index: Int) -> Event { index == 0 ? first : others[index - 1] }
}
