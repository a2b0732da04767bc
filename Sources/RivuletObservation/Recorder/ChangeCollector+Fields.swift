// This file owns the comparison of each kind of field: leaves, nested states, and both in wrappers.

public import RivuletJSON

// The field's type selects the overload of `field`. Generated code calls it for each field that the collector visits.
// `isReplaceable` is true for a nested state that is reported field by field if it is replaced.
extension Generated.ChangeCollector {
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

    /// Compares a Boolean.
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

    /// Compares a leaf with states in it, such as an array of states.
    @inlinable
    public mutating func field<Value: JSONCodable & Generated.StateBearing>(
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
            // An encoder does not report the fields that it leaves out, so equal texts do not prove equal values.
            if found != .different, OmittedFields.mayBe(in: Value.self) {
                collector.recordOmittedWrite(inCodable: old, new)
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

    /// Compares the nested value at the current path, by its parts or as a whole.
    ///
    /// The value is compared by its parts if the writes to its parts are known (`serial`), if its type asks for that,
    /// or if its field does (`isReplaceable`).
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
        let start = recordedChanges
        let found = compare(bearsState: true) {
            old.encodeJSON(into: &$0)
        } _: {
            new.encodeJSON(into: &$0)
        }
        if found == .equalBesideOmitted { recordOmittedWrite(json: old, new) }
        collectCoercions(isNew: recordedChanges > start) {
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
            if found == .equalBesideOmitted { collector.recordOmittedWrite(json: old, new) }
        }
    }

    @inlinable
    mutating func bearing<Value: JSONCodable & Generated.StateBearing>(
        _ step: String,
        _ old: Value,
        _ new: Value,
        isTransient: Bool
    ) {
        enter(step: step, isTransient: isTransient) { collector in
            guard collector.purpose == .differences else {
                return new._$collectCoercions(since: nil, into: &collector)
            }
            let start = collector.recordedChanges
            let found = collector.compare(bearsState: true) {
                old.encodeJSON(into: &$0)
            } _: {
                new.encodeJSON(into: &$0)
            }
            if found == .equalBesideOmitted { collector.recordOmittedWrite(json: old, new) }
            collector.collectCoercions(isNew: collector.recordedChanges > start) {
                new._$collectCoercions(since: old, into: &$0)
            }
        }
    }
}

// Wrappers. For an omitted field, the collector records only that its value may differ. A value that a wrapper changed
// is reported as a coercion.
extension Generated.ChangeCollector {
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
            return recordOmittedWrite(json: old.wrappedValue, new.wrappedValue)
        }
        let start = recordedChanges
        leaf(step, old.wrappedValue, new.wrappedValue, isTransient: isTransient)
        recordCoercion(index, step, since: start) { new.wrappedValue.encodeJSON(into: &$0) }
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
    ) where Wrapper.WrappedValue: JSONCodable & Generated.StateBearing {
        guard !Wrapper.isOmittedFromCoding else {
            return recordOmittedWrite(json: old.wrappedValue, new.wrappedValue)
        }
        let start = recordedChanges
        bearing(step, old.wrappedValue, new.wrappedValue, isTransient: isTransient)
        recordCoercion(index, step, since: start) { new.wrappedValue.encodeJSON(into: &$0) }
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
            return recordOmittedWrite(codable: old.wrappedValue, new.wrappedValue)
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
            return recordOmittedWrite(json: old.wrappedValue, new.wrappedValue)
        }
        let start = recordedChanges
        field(
            index,
            step,
            old.wrappedValue,
            new.wrappedValue,
            isTransient: isTransient,
            isReplaceable: isReplaceable
        )
        recordCoercion(index, step, since: start) { new.wrappedValue.encodeJSON(into: &$0) }
    }
}

// Payloads. An enum has no mark, so its payload's mark says which fields to compare. If the payload's writes are
// unknown, the enum is compared as a whole.
extension Generated.ChangeCollector {
    /// Reports the differences in the tracked payload of an enum that still has the same case.
    ///
    /// Returns false, and reports nothing, if the enum must be compared as a whole.
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

    /// Looks for coercions in a leaf with states in it; the leaf is compared as part of its enum.
    public mutating func payload<Value: Generated.StateBearing>(
        _ index: Int,
        _ step: String,
        _ old: Value,
        _ new: Value,
        serial: UInt64?
    ) -> Bool { part(step, new) }

    /// Returns false: a leaf is compared as part of its enum.
    @_disfavoredOverload
    public mutating func payload<Value>(
        _ index: Int,
        _ step: String,
        _ old: Value,
        _ new: Value,
        serial: UInt64?
    ) -> Bool { false }

    /// Looks for coercions in one value of a case that has several values or a labelled one.
    ///
    /// Returns false, because the value is compared as part of its enum.
    public mutating func part<Value: Generated.StateBearing>(_ step: String, _ value: Value) -> Bool {
        if purpose == .coercions {
            enter(step: step, isTransient: false) { value._$collectCoercions(since: nil, into: &$0) }
        }
        return false
    }

    /// Returns false: a value without states has no coercions.
    @_disfavoredOverload
    @inlinable
    public mutating func part<Value>(_ step: String, _ value: Value) -> Bool { false }
}
