// This file owns how each kind of field is compared: leaves, nested states, and both in wrappers.

public import RivuletJSON

// Overloads choose by the field's type; generated code calls them for fields that the collector visits. `isReplaceable` is for
// nested states whose replacement is reported field by field.
extension ChangeCollector {
    /// Compares a leaf.
    @inlinable
    public mutating func field<Value: JSONCodable>(
        _ index: Int,
        _ step: String,
        _ old: Value,
        _ new: Value,
        isTransient: Bool = false,
        isReplaceable: Bool = false
    ) {
        leaf(step, old, new, isTransient: isTransient)
    }

    /// Compares an integer.
    @inlinable
    public mutating func field<Value: JSONCodable & FixedWidthInteger>(
        _ index: Int,
        _ step: String,
        _ old: Value,
        _ new: Value,
        isTransient: Bool = false,
        isReplaceable: Bool = false
    ) {
        guard old != new else { return }
        enter(step: step, isTransient: isTransient) { $0.report { new.encodeJSON(into: &$0) } }
    }

    /// Compares a truth value.
    public mutating func field(
        _ index: Int,
        _ step: String,
        _ old: Bool,
        _ new: Bool,
        isTransient: Bool = false,
        isReplaceable: Bool = false
    ) {
        guard old != new else { return }
        enter(step: step, isTransient: isTransient) { $0.report { new.encodeJSON(into: &$0) } }
    }

    /// Compares a text by its bytes: two spellings of "é" are two values to a client.
    public mutating func field(
        _ index: Int,
        _ step: String,
        _ old: String,
        _ new: String,
        isTransient: Bool = false,
        isReplaceable: Bool = false
    ) {
        guard old != new || !old.utf8.elementsEqual(new.utf8) else { return }
        enter(step: step, isTransient: isTransient) { $0.report { new.encodeJSON(into: &$0) } }
    }

    /// Compares a leaf with states in it, such as an array of them.
    @inlinable
    public mutating func field<Value: JSONCodable & StateBearing>(
        _ index: Int,
        _ step: String,
        _ old: Value,
        _ new: Value,
        isTransient: Bool = false,
        isReplaceable: Bool = false
    ) {
        bearing(step, old, new, isTransient: isTransient)
    }

    /// Compares a leaf that is only Codable.
    @inlinable
    @_disfavoredOverload
    public mutating func field<Value: Codable>(
        _ index: Int,
        _ step: String,
        _ old: Value,
        _ new: Value,
        isTransient: Bool = false,
        isReplaceable: Bool = false
    ) {
        guard purpose == .differences else { return }
        enter(step: step, isTransient: isTransient) { collector in
            let found = collector.compare(bearsState: false) {
                CodableJSON.encode(old, into: &$0)
            } _: {
                CodableJSON.encode(new, into: &$0)
            }
            // An encoder does not say what it leaves out.
            if found != .different, OmittedFields.mayBe(in: Value.self) {
                collector.noteOmittedWrite(inCodable: old, new)
            }
        }
    }

    /// Compares a nested state.
    @inlinable
    public mutating func field<Value: StateNode>(
        _ index: Int,
        _ step: String,
        _ old: Value,
        _ new: Value,
        isTransient: Bool = false,
        isReplaceable: Bool = false
    ) {
        let serial = serial(of: index)
        enter(step: step, isTransient: isTransient) { collector in
            collector.node(old, new, serial: serial, isReplaceable: isReplaceable)
        }
    }

    /// Compares the nested value at the current path: by its parts, where they are known or asked for, or as a whole.
    @inlinable
    mutating func node<Value: StateNode>(_ old: Value, _ new: Value, serial: UInt64?, isReplaceable: Bool) {
        if purpose == .coercions {
            _ = Value._$collect(from: new, to: new, serial: nil, into: &self)
            return
        }
        if serial != nil || Value._$isComparedByParts {
            guard !Value._$collect(from: old, to: new, serial: serial, into: &self) else { return }
        }
        if isReplaceable, Value._$collect(from: old, to: new, serial: nil, into: &self) { return }
        let start = notedChanges
        let found = compare(bearsState: true) {
            old.encodeJSON(into: &$0)
        } _: {
            new.encodeJSON(into: &$0)
        }
        if found == .equalBesideOmitted { noteOmittedWrite(json: old, new) }
        collectCoercions(isNew: notedChanges > start) {
            _ = Value._$collect(from: new, to: new, serial: nil, into: &$0)
        }
    }

    @inlinable
    mutating func leaf<Value: JSONCodable>(_ step: String, _ old: Value, _ new: Value, isTransient: Bool) {
        guard purpose == .differences else { return }
        enter(step: step, isTransient: isTransient) { collector in
            let found = collector.compare(bearsState: false) {
                old.encodeJSON(into: &$0)
            } _: {
                new.encodeJSON(into: &$0)
            }
            if found == .equalBesideOmitted { collector.noteOmittedWrite(json: old, new) }
        }
    }

    @inlinable
    mutating func bearing<Value: JSONCodable & StateBearing>(
        _ step: String,
        _ old: Value,
        _ new: Value,
        isTransient: Bool
    ) {
        enter(step: step, isTransient: isTransient) { collector in
            guard collector.purpose == .differences else {
                return new._$collectCoercions(since: nil, into: &collector)
            }
            let start = collector.notedChanges
            let found = collector.compare(bearsState: true) {
                old.encodeJSON(into: &$0)
            } _: {
                new.encodeJSON(into: &$0)
            }
            if found == .equalBesideOmitted { collector.noteOmittedWrite(json: old, new) }
            collector.collectCoercions(isNew: collector.notedChanges > start) {
                new._$collectCoercions(since: old, into: &$0)
            }
        }
    }
}

// Wrappers: of an omitted field it is only said that it may have another value; what a wrapper changed is reported.
extension ChangeCollector {
    /// Compares a leaf in a wrapper.
    @inlinable
    public mutating func field<Wrapper: ObservableWrapper>(
        _ index: Int,
        _ step: String,
        wrapper old: Wrapper,
        _ new: Wrapper,
        isTransient: Bool = false,
        isReplaceable: Bool = false
    ) where Wrapper.WrappedValue: JSONCodable {
        guard !Wrapper.isOmittedFromCoding else {
            return noteOmittedWrite(json: old.wrappedValue, new.wrappedValue)
        }
        let start = notedChanges
        leaf(step, old.wrappedValue, new.wrappedValue, isTransient: isTransient)
        noteCoercion(index, step, since: start) { new.wrappedValue.encodeJSON(into: &$0) }
    }

    /// Compares a leaf with states in it, in a wrapper.
    @inlinable
    public mutating func field<Wrapper: ObservableWrapper>(
        _ index: Int,
        _ step: String,
        wrapper old: Wrapper,
        _ new: Wrapper,
        isTransient: Bool = false,
        isReplaceable: Bool = false
    ) where Wrapper.WrappedValue: JSONCodable & StateBearing {
        guard !Wrapper.isOmittedFromCoding else {
            return noteOmittedWrite(json: old.wrappedValue, new.wrappedValue)
        }
        let start = notedChanges
        bearing(step, old.wrappedValue, new.wrappedValue, isTransient: isTransient)
        noteCoercion(index, step, since: start) { new.wrappedValue.encodeJSON(into: &$0) }
    }

    /// Compares a leaf that is only Codable, in a wrapper.
    @inlinable
    @_disfavoredOverload
    public mutating func field<Wrapper: ObservableWrapper>(
        _ index: Int,
        _ step: String,
        wrapper old: Wrapper,
        _ new: Wrapper,
        isTransient: Bool = false,
        isReplaceable: Bool = false
    ) where Wrapper.WrappedValue: Codable {
        guard !Wrapper.isOmittedFromCoding else {
            return noteOmittedWrite(codable: old.wrappedValue, new.wrappedValue)
        }
        field(index, step, old.wrappedValue, new.wrappedValue, isTransient: isTransient)
    }

    /// Compares a nested state in a wrapper.
    @inlinable
    public mutating func field<Wrapper: ObservableWrapper>(
        _ index: Int,
        _ step: String,
        wrapper old: Wrapper,
        _ new: Wrapper,
        isTransient: Bool = false,
        isReplaceable: Bool = false
    ) where Wrapper.WrappedValue: StateNode {
        guard !Wrapper.isOmittedFromCoding else {
            return noteOmittedWrite(json: old.wrappedValue, new.wrappedValue)
        }
        let start = notedChanges
        field(
            index,
            step,
            old.wrappedValue,
            new.wrappedValue,
            isTransient: isTransient,
            isReplaceable: isReplaceable
        )
        noteCoercion(index, step, since: start) { new.wrappedValue.encodeJSON(into: &$0) }
    }
}

// Payloads: an enum has no mark, so it asks its payload, and is compared whole when that does not know.
extension ChangeCollector {
    /// Reports what differs in the tracked value of a case that an enum had before and has now.
    ///
    /// False, with nothing reported, when the enum must be compared whole.
    public mutating func payload<Value: StateNode>(
        _ index: Int,
        _ step: String,
        _ old: Value,
        _ new: Value,
        serial: UInt64?
    ) -> Bool {
        let serial = serial.map { ChangeMark(serial: $0).serial(of: index) }
        var isCollected = false
        enter(step: step, isTransient: false) { collector in
            isCollected = Value._$collect(from: old, to: new, serial: serial, into: &collector)
        }
        return isCollected
    }

    /// A leaf with states in it is compared as a part of its enum.
    public mutating func payload<Value: StateBearing>(
        _ index: Int,
        _ step: String,
        _ old: Value,
        _ new: Value,
        serial: UInt64?
    ) -> Bool { part(step, new) }

    /// A leaf is compared as a part of its enum.
    @_disfavoredOverload
    public mutating func payload<Value>(
        _ index: Int,
        _ step: String,
        _ old: Value,
        _ new: Value,
        serial: UInt64?
    ) -> Bool { false }

    /// Looks for coercions in a value of a case that has several, or a labelled one; false, for it is compared as a part of its enum.
    public mutating func part<Value: StateBearing>(_ step: String, _ value: Value) -> Bool {
        if purpose == .coercions {
            enter(step: step, isTransient: false) { value._$collectCoercions(since: nil, into: &$0) }
        }
        return false
    }

    /// A value without states has none.
    @_disfavoredOverload
    @inlinable
    public mutating func part<Value>(_ step: String, _ value: Value) -> Bool { false }
}
