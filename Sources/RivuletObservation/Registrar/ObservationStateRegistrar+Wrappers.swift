// This file owns the accessors' side of fields in wrappers: every written value goes through `makeWrapper`.

public import RivuletJSON

// Reading.
extension ObservationStateRegistrar {
    /// The value of a field in a wrapper, noted as read.
    @inlinable
    public func read<Wrapper: ObservableWrapper>(_ field: Int, wrapper: Wrapper) -> Wrapper.WrappedValue {
        noteRead(field, Wrapper.self)
        return wrapper.wrappedValue
    }

    /// The value of a field in a wrapper whose own fields are observed: it learns where it is.
    @inlinable
    public func read<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: Wrapper
    ) -> Wrapper.WrappedValue where Wrapper.WrappedValue: StateNode {
        guard let place else { return wrapper.wrappedValue }
        noteRead(field, Wrapper.self)
        var value = wrapper.wrappedValue
        value._$observe(at: place.child(.field(field)))
        return value
    }

    /// Notes that a field in a wrapper is read, by itself or through `$field`.
    @inlinable
    public func noteRead<Wrapper: ObservableWrapper>(_ field: Int, _ wrapper: Wrapper.Type) {
        guard let place else { return }
        if Wrapper.isOmittedFromCoding { place.accessUnreported(field) } else { place.access(field) }
    }
}

// Whole-value writes. What the wrapper changed in the value is a coercion.
extension ObservationStateRegistrar {
    /// Replaces a wrapper by a new one of the value.
    @inlinable
    public mutating func set<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        from value: Wrapper.WrappedValue,
        config: Wrapper.Config
    ) {
        set(field, &wrapper, to: Wrapper.makeWrapper(from: value, config: config), isChange: true)
    }

    /// Replaces a wrapper by a new one of the value, and notes what the wrapper made of it.
    @inlinable
    public mutating func set<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        from value: Wrapper.WrappedValue,
        config: Wrapper.Config
    ) where Wrapper.WrappedValue: Equatable & JSONCodable {
        set(field, &wrapper, to: Wrapper.makeWrapper(from: value, config: config), isChange: true)
        noteCoercion(field, Wrapper.self, from: value, isCoerced: wrapper.wrappedValue != value)
    }

    /// Replaces a wrapper by a new one of a nested value; one that is observed as what it replaces is told to nobody.
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

    /// Replaces a wrapper by a new one of a nested value, and notes what the wrapper made of it.
    @inlinable
    public mutating func set<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        from value: Wrapper.WrappedValue,
        config: Wrapper.Config
    ) where Wrapper.WrappedValue: StateNode & Equatable {
        let isChange = isOther(field, value)
        set(field, &wrapper, to: Wrapper.makeWrapper(from: value, config: config), isChange: isChange)
        noteCoercion(field, Wrapper.self, from: value, isCoerced: wrapper.wrappedValue != value)
    }

    /// Whether observers of a field see another value, and not an edited copy of the one they see already.
    @inlinable
    func isOther(_ field: Int, _ value: some StateNode) -> Bool {
        guard let place else { return false }
        return !_$isIdentityEqual(value, at: place.child(.field(field)))
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
        // Asked here too, so that a wrapper whose value is not just stored is opened once.
        guard place != nil || !mark.isTouched(field) else { return false }
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
        if let place { place.didSet(field) }
    }

    /// Ends an in-place edit of a leaf in a wrapper, and notes what the wrapper made of the value.
    @inlinable
    public mutating func end<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        config: Wrapper.Config,
        wasAbsent: Bool
    ) where Wrapper.WrappedValue: Equatable & JSONCodable {
        remake(field, &wrapper, config)
        if let place { place.didSet(field) }
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
        if place != nil { endNode(field, wrapper.wrappedValue, wasAbsent: wasAbsent) }
    }

    /// Ends an in-place edit of a nested value in a wrapper, and notes what the wrapper made of it.
    @inlinable
    public mutating func end<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        config: Wrapper.Config,
        wasAbsent: Bool
    ) where Wrapper.WrappedValue: StateNode & Equatable {
        remake(field, &wrapper, config)
        if place != nil { endNode(field, wrapper.wrappedValue, wasAbsent: wasAbsent) }
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
