// This file owns the accessors of fields in wrappers: every written value goes through `makeWrapper`.

public import RivuletJSON

// Reading.
extension ObservationStateRegistrar {
    /// Returns the value of a field in a wrapper, and records the read.
    @inlinable
    public func read<Wrapper: ObservableWrapper>(_ field: Int, wrapper: Wrapper) -> Wrapper.WrappedValue {
        recordRead(field, Wrapper.self)
        return wrapper.wrappedValue
    }

    /// Returns the nested value of a field in a wrapper with its observed node, and records the read.
    @inlinable
    public func read<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: Wrapper
    ) -> Wrapper.WrappedValue where Wrapper.WrappedValue: StateNode {
        guard let node else { return wrapper.wrappedValue }
        recordRead(field, Wrapper.self)
        var value = wrapper.wrappedValue
        value._$observe(at: node.child(.field(field)))
        return value
    }

    /// Records a read of a field in a wrapper, directly or through `$field`.
    @inlinable
    public func recordRead<Wrapper: ObservableWrapper>(_ field: Int, _ wrapper: Wrapper.Type) {
        guard let node else { return }
        if Wrapper.isOmittedFromCoding { node.accessUnreported(field) } else { node.access(field) }
    }
}

// Whole writes. A change of the value by the wrapper is a coercion.
extension ObservationStateRegistrar {
    /// Replaces a wrapper by a new wrapper of the value.
    @inlinable
    public mutating func set<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        from value: Wrapper.WrappedValue,
        config: Wrapper.Config
    ) {
        set(field, &wrapper, to: Wrapper.makeWrapper(from: value, config: config), isChange: true)
    }

    /// Replaces a wrapper by a new wrapper of the value, and records a coercion.
    @inlinable
    public mutating func set<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        from value: Wrapper.WrappedValue,
        config: Wrapper.Config
    ) where Wrapper.WrappedValue: Equatable & JSONCodable {
        set(field, &wrapper, to: Wrapper.makeWrapper(from: value, config: config), isChange: true)
        recordCoercion(field, Wrapper.self, from: value, isCoerced: wrapper.wrappedValue != value)
    }

    /// Replaces a wrapper by a new wrapper of a nested value; notifies no observers if the value is the observed one.
    @inlinable
    public mutating func set<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        from value: Wrapper.WrappedValue,
        config: Wrapper.Config
    ) where Wrapper.WrappedValue: StateNode {
        let isChange = isOther(field, value)
        set(field, &wrapper, to: Wrapper.makeWrapper(from: value, config: config), isChange: isChange)
    }

    /// Replaces a wrapper by a new wrapper of a nested value, and records a coercion.
    @inlinable
    public mutating func set<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        from value: Wrapper.WrappedValue,
        config: Wrapper.Config
    ) where Wrapper.WrappedValue: StateNode & Equatable {
        let isChange = isOther(field, value)
        set(field, &wrapper, to: Wrapper.makeWrapper(from: value, config: config), isChange: isChange)
        recordCoercion(field, Wrapper.self, from: value, isCoerced: wrapper.wrappedValue != value)
    }

    /// Returns true if the value is not the observed value of a field, nor an edited copy of it.
    @inlinable
    func isOther(_ field: Int, _ value: some StateNode) -> Bool {
        guard let node else { return false }
        return !_$isIdentityEqual(value, at: node.child(.field(field)))
    }
}

// In-place edits.
extension ObservationStateRegistrar {
    /// Begins an in-place edit of a leaf in a wrapper.
    @inlinable
    public mutating func begin<Wrapper: ObservableWrapper>(_ field: Int, wrapper: inout Wrapper) -> Bool {
        begin(field, &wrapper)
    }

    /// Begins an in-place edit of a nested value in a wrapper.
    @inlinable
    public mutating func begin<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper
    ) -> Bool where Wrapper.WrappedValue: StateNode {
        // The inner `begin` has the same check. Here it saves a read and a write of `wrappedValue`, which may be
        // computed.
        guard node != nil || !mark.isTouched(field) else { return false }
        return begin(field, &wrapper.wrappedValue)
    }

    /// Ends an in-place edit of a leaf in a wrapper: the value goes through the wrapper again.
    @inlinable
    public mutating func end<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        config: Wrapper.Config,
        wasAbsent: Bool
    ) {
        if !Wrapper.editsInPlace { wrapper = Wrapper.makeWrapper(from: wrapper.wrappedValue, config: config) }
        if let node { node.didSet(field) }
    }

    /// Ends an in-place edit of a leaf in a wrapper, and records a coercion.
    @inlinable
    public mutating func end<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        config: Wrapper.Config,
        wasAbsent: Bool
    ) where Wrapper.WrappedValue: Equatable & JSONCodable {
        remake(field, &wrapper, config)
        if let node { node.didSet(field) }
    }

    /// Ends an in-place edit of a nested value in a wrapper.
    @inlinable
    public mutating func end<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        config: Wrapper.Config,
        wasAbsent: Bool
    ) where Wrapper.WrappedValue: StateNode {
        if !Wrapper.editsInPlace { wrapper = Wrapper.makeWrapper(from: wrapper.wrappedValue, config: config) }
        if node != nil { endNode(field, wrapper.wrappedValue, wasAbsent: wasAbsent) }
    }

    /// Ends an in-place edit of a nested value in a wrapper, and records a coercion.
    @inlinable
    public mutating func end<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        config: Wrapper.Config,
        wasAbsent: Bool
    ) where Wrapper.WrappedValue: StateNode & Equatable {
        remake(field, &wrapper, config)
        if node != nil { endNode(field, wrapper.wrappedValue, wasAbsent: wasAbsent) }
    }

    @inlinable
    mutating func remake<Wrapper: ObservableWrapper>(
        _ field: Int,
        _ wrapper: inout Wrapper,
        _ config: Wrapper.Config
    ) where Wrapper.WrappedValue: Equatable & JSONCodable {
        guard !Wrapper.editsInPlace else { return }
        let written = wrapper.wrappedValue
        wrapper = Wrapper.makeWrapper(from: written, config: config)
        if wrapper.wrappedValue != written { coerced(field, Wrapper.self, from: written) }
    }
}
