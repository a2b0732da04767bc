// Part of Rivulet. See README.md for the architecture.
// This file owns how fields are put in order between two runs: only those that the last run wrote, and only nested values.

extension ChangeMark {
    /// Whether any field was written since the mark was new; otherwise there is nothing to put in order.
    @inlinable
    public func beginSettling() -> Bool {
        touched != 0
    }

    /// Leaves a leaf as it is.
    @inlinable
    public func settle<Value>(_ field: Int, _ storage: inout Value) {}

    /// Puts a nested value in order.
    @inlinable
    public func settle<Value: StateNode>(_ field: Int, _ storage: inout Value) {
        guard touched & Self.bit(field) != 0 else { return }
        storage._$settle()
    }

    /// Leaves a leaf in a wrapper as it is.
    @inlinable
    public func settle<Wrapper: ObservableWrapper>(_ field: Int, wrapper: inout Wrapper) {}

    /// Puts a nested value in a wrapper in order, unless every edit would make the wrapper anew.
    @inlinable
    public func settle<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper
    ) where Wrapper.WrappedValue: StateNode {
        guard touched & Self.bit(field) != 0, Wrapper.editsInPlace else { return }
        wrapper.wrappedValue._$settle()
    }
}
