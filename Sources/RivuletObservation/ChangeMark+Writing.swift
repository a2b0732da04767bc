// Part of Rivulet. See README.md for the architecture.
// This file owns what the generated accessors do at a write: mark the field, and tell a nested value its place.

public import RivuletJSON

// Overloads choose between leaves and nested values, so that the macro need not know the types.
extension ChangeMark {
    /// Writes a field; a nested value keeps the mark that it comes with.
    @inlinable
    public mutating func set<Value>(_ field: Int, _ storage: inout Value, to value: Value) {
        touch(field)
        storage = value
    }

    /// Begins an in-place edit of a leaf.
    @inlinable
    public mutating func begin<Value>(_ field: Int, _ storage: inout Value) {
        touch(field)
    }

    /// Begins an in-place edit of a nested value, which learns its place if this is the first write to the field in this run.
    ///
    /// Only then is it known to be what it was when the run began.
    @inlinable
    public mutating func begin<Value: StateNode>(_ field: Int, _ storage: inout Value) {
        guard touched & Self.bit(field) == 0 else { return }
        touch(field)
        storage._$enter(serial(of: field))
    }
}

// The same for fields in a wrapper. A written value goes through `makeWrapper`; what the wrapper changed in it is a coercion.
extension ChangeMark {
    /// Replaces a wrapper by a new one of the value.
    @inlinable
    public mutating func set<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        from value: Wrapper.WrappedValue,
        config: Wrapper.Config
    ) {
        touch(field)
        wrapper = Wrapper.makeWrapper(from: value, config: config)
    }

    /// Replaces a wrapper by a new one of the value, and notes what the wrapper made of it.
    @inlinable
    public mutating func set<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        from value: Wrapper.WrappedValue,
        config: Wrapper.Config
    ) where Wrapper.WrappedValue: Equatable & JSONCodable {
        touch(field)
        wrapper = Wrapper.makeWrapper(from: value, config: config)
        if wrapper.wrappedValue != value { coerced(field, Wrapper.self, from: value) }
    }

    /// Begins an in-place edit of a leaf in a wrapper.
    @inlinable
    public mutating func begin<Wrapper: ObservableWrapper>(_ field: Int, wrapper: inout Wrapper) {
        touch(field)
    }

    /// Begins an in-place edit of a nested value in a wrapper.
    @inlinable
    public mutating func begin<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper
    ) where Wrapper.WrappedValue: StateNode {
        // Asked here too, so that a wrapper whose value is not just stored is opened once.
        guard touched & Self.bit(field) == 0 else { return }
        begin(field, &wrapper.wrappedValue)
    }

    /// Ends an in-place edit of a field in a wrapper: the value goes through the wrapper again.
    ///
    /// Called in a `defer`, because the code after a `yield` is skipped when the access is left by a throw.
    @inlinable
    public mutating func end<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        config: Wrapper.Config
    ) {
        guard !Wrapper.editsInPlace else { return }
        wrapper = Wrapper.makeWrapper(from: wrapper.wrappedValue, config: config)
    }

    /// Ends an in-place edit of a field in a wrapper, and notes what the wrapper made of the value.
    @inlinable
    public mutating func end<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        config: Wrapper.Config
    ) where Wrapper.WrappedValue: Equatable & JSONCodable {
        guard !Wrapper.editsInPlace else { return }
        let written = wrapper.wrappedValue
        wrapper = Wrapper.makeWrapper(from: written, config: config)
        if wrapper.wrappedValue != written { coerced(field, Wrapper.self, from: written) }
    }

    /// Notes that a wrapper changed what was written, if a recorder wants to know and the field is in JSON at all.
    @usableFromInline
    mutating func coerced<Wrapper: ObservableWrapper>(
        _ field: Int,
        _ type: Wrapper.Type,
        from written: Wrapper.WrappedValue
    ) where Wrapper.WrappedValue: JSONCodable {
        guard !Wrapper.isOmittedFromCoding, let log = CoercionLog.current else { return }
        // A value in no place yet still needs a name of its own, by which the collector can find the note.
        if serial == 0 { serial = Self.freshSerial() }
        log.append(CoercionLog.Entry(serial: serial, field: field, from: written.jsonBytes()))
    }
}
