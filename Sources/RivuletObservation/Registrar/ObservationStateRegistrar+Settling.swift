// This file owns how fields are put in order between two runs: only those that the last run wrote, and only nested values.

extension ObservationStateRegistrar {
    /// Whether any field was written since the mark was new; otherwise there is nothing to put in order.
    @inlinable
    public func beginSettling() -> Bool {
        mark.touched != 0
    }

    /// Ends it: nothing is known any more of what was written.
    @inlinable
    public mutating func endSettling() {
        mark = ChangeMark()
    }

    /// Leaves a leaf as it is.
    @inlinable
    public mutating func settle<Value>(_ field: Int, _ storage: inout Value) {}

    /// Puts a nested value in order.
    @inlinable
    public mutating func settle<Value: StateNode>(_ field: Int, _ storage: inout Value) {
        guard mark.isTouched(field) else { return }
        storage._$settle()
    }

    /// Leaves a leaf in a wrapper as it is.
    @inlinable
    public mutating func settle<Wrapper: ObservableWrapper>(_ field: Int, wrapper: inout Wrapper) {}

    /// Puts a nested value in a wrapper in order, unless every edit would make the wrapper anew.
    @inlinable
    public mutating func settle<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper
    ) where Wrapper.WrappedValue: StateNode {
        guard mark.isTouched(field), Wrapper.editsInPlace else { return }
        wrapper.wrappedValue._$settle()
    }
}
