/// A value computed from a state, with the key paths that the computation read.
///
/// ```swift
/// var open = state.observe { state in state.todos.count { !$0.done } }
/// open.update(to: state, after: recording.changes)
/// ```
///
/// A nested state that is read but into which no further read goes (it is returned, compared or encoded as a whole) counts with all its
/// fields. Of a keyed collection that is counted or walked, which elements there are and their order count, and of each element what is
/// read of it. What is not tracked is not seen: members with `@ObservationStateIgnored`, and what mirrors print. A computation that reads an omitted field is made again at every update, since nobody reports that field's changes.
public struct Derived<State: ObservableState, Value> {
    /// The value as of the last computation.
    public private(set) var value: Value
    private var reads: DerivedReads
    private let compute: @Sendable (State) -> Value

    /// The key paths that the last computation read, JSON Pointers in the order of their text.
    ///
    /// A collection's stands for its order if elements of it are there too.
    public var keyPaths: [String] { reads.keyPaths.sorted() }

    /// Computes the value for the first time.
    public init(of state: State, _ compute: @escaping @Sendable (State) -> Value) {
        self.compute = compute
        (value, reads) = Self.run(compute, on: state)
    }

    /// Computes the value again if one of the changes, which led to this state, touches what the computation read.
    ///
    /// - Returns: whether it was computed again; the value may be the same.
    @discardableResult
    public mutating func update(to state: State, after changes: [StateChange]) -> Bool {
        guard changes.contains(where: reads.areTouched) || reads.hasUnreported else { return false }
        (value, reads) = Self.run(compute, on: state)
        return true
    }

    private static func run(_ compute: (State) -> Value, on state: State) -> (Value, DerivedReads) {
        let place = ObservedPlace()
        var state = state
        state._$observe(at: place)
        let value = compute(state)
        var reads = DerivedReads()
        place.collect(into: &reads, among: State._$fields)
        return (value, reads)
    }
}

extension Derived: Sendable where Value: Sendable {}

extension ObservableState {
    /// Computes a value from this state, and finds out what it depends on.
    public func observe<Value>(_ compute: @escaping @Sendable (Self) -> Value) -> Derived<Self, Value> {
        Derived(of: self, compute)
    }
}
