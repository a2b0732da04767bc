// This file owns the check for changed values of fields that are in no JSON.

import RivuletJSON

// The check is skipped for fields that are in JSON and hold no omitted field.
extension Generated.ChangeCollector {
    /// Records a write of an omitted field, or of a value that holds such a field, unless both values are equal.
    ///
    /// The values are equal if they are equal by their type's `==` and also have equal texts. The `==` alone would lose
    /// writes of fields that it ignores. The texts alone would lose writes of fields that they leave out.
    @usableFromInline
    mutating func recordOmittedWrite<Value: JSONCodable>(json old: Value, _ new: Value) {
        func text(_ value: Value) -> [UInt8] {
            var writer = JSONWriter()
            writer.includesOmitted = true
            value.encodeJSON(into: &writer)
            return writer.bytes
        }
        guard !Self.areEqual(old, new) || text(old) != text(new) else { return }
        recordOmittedWrite()
    }

    /// Records a write of an omitted field of a type that is only Codable, unless its values are equal.
    @usableFromInline
    mutating func recordOmittedWrite<Value: Codable>(codable old: Value, _ new: Value) {
        func text(_ value: Value) -> [UInt8] {
            var writer = JSONWriter()
            CodableJSON.encode(value, into: &writer)
            return writer.bytes
        }
        guard !Self.areEqual(old, new) || text(old) != text(new) else { return }
        recordOmittedWrite()
    }

    /// Records a write of omitted fields in a value that is only Codable, unless both values are equal.
    ///
    /// The caller has compared the texts, which are equal. No encoder writes omitted fields, so the type's `==`
    /// decides.
    @usableFromInline
    mutating func recordOmittedWrite<Value: Codable>(inCodable old: Value, _ new: Value) {
        if !Self.areEqual(old, new) { recordOmittedWrite() }
    }

    /// Returns true if two values are equal by their type's `==`; false if the type is not `Equatable`.
    private static func areEqual<Value>(_ old: Value, _ new: Value) -> Bool {
        // The type is cast, not a value, because a nil would not be recognised as `Equatable`.
        func areEqual<Known: Equatable>(as type: Known.Type) -> Bool {
            guard let old = old as? Known, let new = new as? Known else { return false }
            return old == new
        }
        guard let type = Value.self as? any Equatable.Type else { return false }
        return areEqual(as: type)
    }
}
