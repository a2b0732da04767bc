/// A value computed from a state, with the key paths that the computation read.
///
/// ```swift
/// var open = state.observe { state in state.todos.count { !$0.done } }
/// open.update(to: state, after: recording.changes)
/// ```
///
/// Comparing or encoding a nested state as a whole is a read of all its fields. Returning a nested state is also a read
/// of all its fields, unless the computation reads one of them by itself. Reading a field of a nested state is a read
/// of that field only. Counting or walking a keyed collection is a read of the set and the order of its elements, and
/// not of the elements' fields. Reads of members with `@ObservationStateIgnored` and of the output of mirrors are not
/// recorded. A computation that reads an omitted field is repeated at every update, because the field's changes are not
/// reported.
public struct Derived<State: ObservableState, Value> {
    /// The value as of the last computation.
    public private(set) var value: Value
    private var reads: DerivedReads
    private let compute: @Sendable (State) -> Value

    /// The key paths that the last computation read, JSON Pointers in the order of their text.
    ///
    /// If the list also has paths of a collection's elements, the collection's path means only the set and the order of
    /// the elements.
    public var keyPaths: [String] { reads.keyPaths.sorted() }

    /// Computes the value for the first time.
    public init(of state: State, _ compute: @escaping @Sendable (State) -> Value) {
        self.compute = compute
        (value, reads) = Self.run(compute, on: state)
    }

    /// Computes the value again if one of the changes touches a key path that the computation read.
    ///
    /// `changes` must be all changes from the state of the previous update to this state.
    /// - Returns: true if the value was computed again, even if it is the same as before.
    @discardableResult
    public mutating func update(to state: State, after changes: [StateChange]) -> Bool {
        guard changes.contains(where: reads.areTouched) || reads.hasUnreported else { return false }
        (value, reads) = Self.run(compute, on: state)
        return true
    }

    private static func run(_ compute: (State) -> Value, on state: State) -> (Value, DerivedReads) {
        let node = Generated.ObservedNode()
        var state = state
        state._$observe(at: node)
        let value = compute(state)
        var reads = DerivedReads()
        node.collect(into: &reads, among: State._$fields)
        return (value, reads)
    }
}

extension Derived: Sendable where Value: Sendable {}

extension ObservableState {
    /// Computes a value from this state, and records the key paths that it depends on.
    public func observe<Value>(_ compute: @escaping @Sendable (Self) -> Value) -> Derived<Self, Value> {
        Derived(of: self, compute)
    }
}
