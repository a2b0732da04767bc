// This file owns the deferred work of fields, which is finished between two runs. Only nested values in fields that the
// last run wrote have such work.

extension ObservationStateRegistrar {
    /// Returns true if the mark has a written field; otherwise there is no deferred work.
    @inlinable
    public func beginSettling() -> Bool {
        mark.touched != 0
    }

    /// Ends the settling, and forgets which fields were written.
    @inlinable
    public mutating func endSettling() {
        mark = ChangeMark()
    }

    /// Leaves a leaf as it is.
    @inlinable
    public mutating func settle<Value>(_ field: Int, _ storage: inout Value) {}

    /// Finishes deferred work of a nested value.
    @inlinable
    public mutating func settle<Value: StateNode>(_ field: Int, _ storage: inout Value) {
        guard mark.isTouched(field) else { return }
        storage._$settle()
    }

    /// Leaves a leaf in a wrapper as it is.
    @inlinable
    public mutating func settle<Wrapper: ObservableWrapper>(_ field: Int, wrapper: inout Wrapper) {}

    /// Finishes deferred work of a nested value in a wrapper, unless each edit creates a new wrapper.
    @inlinable
    public mutating func settle<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper
    ) where Wrapper.WrappedValue: StateNode {
        guard mark.isTouched(field), Wrapper.editsInPlace else { return }
        wrapper.wrappedValue._$settle()
    }
}
