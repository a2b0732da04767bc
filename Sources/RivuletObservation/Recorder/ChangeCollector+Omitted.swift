// This file owns whether a written field that is in no JSON has another value than before.

import RivuletJSON

// None of this is asked for a field that is in JSON and has no such field in it.
extension ChangeCollector {
    /// Notes that a field in no JSON, or one in a value whose texts are equal, was written, unless its values are equal.
    ///
    /// A type's `==` alone would lose writes that it does not look at, and the text those of what it leaves out: both must agree.
    @usableFromInline
    mutating func noteOmittedWrite<Value: JSONCodable>(json old: Value, _ new: Value) {
        func text(_ value: Value) -> [UInt8] {
            var writer = JSONWriter()
            writer.includesOmitted = true
            value.encodeJSON(into: &writer)
            return writer.bytes
        }
        guard !Self.areEqual(old, new) || text(old) != text(new) else { return }
        noteOmittedWrite()
    }

    /// Notes that a field in no JSON, of a type that is only Codable, was written, unless its values are equal.
    @usableFromInline
    mutating func noteOmittedWrite<Value: Codable>(codable old: Value, _ new: Value) {
        func text(_ value: Value) -> [UInt8] {
            var writer = JSONWriter()
            CodableJSON.encode(value, into: &writer)
            return writer.bytes
        }
        guard !Self.areEqual(old, new) || text(old) != text(new) else { return }
        noteOmittedWrite()
    }

    /// Notes that fields in no JSON were written in a value that is only Codable and whose texts are equal, unless the values are.
    ///
    /// No encoder writes such fields: the type's `==` decides alone.
    @usableFromInline
    mutating func noteOmittedWrite<Value: Codable>(inCodable old: Value, _ new: Value) {
        if !Self.areEqual(old, new) { noteOmittedWrite() }
    }

    /// Whether two values are equal by their type's `==`; those of a type without one may differ.
    private static func areEqual<Value>(_ old: Value, _ new: Value) -> Bool {
        // The type is asked, not a value: a nil would be taken for none.
        func areEqual<Known: Equatable>(as type: Known.Type) -> Bool {
            guard let old = old as? Known, let new = new as? Known else { return false }
            return old == new
        }
        guard let type = Value.self as? any Equatable.Type else { return false }
        return areEqual(as: type)
    }
}
