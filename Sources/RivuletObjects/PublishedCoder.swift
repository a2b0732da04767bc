// Part of Rivulet. See README.md for the architecture.
// Owns what is known of a published value by its type: its JSON, and whether two are equal.

import RivuletJSON

/// Finds out by the type what a value can do; a published field asks nothing of it but to be Sendable.
struct PublishedCoder<Value: Sendable>: Sendable {
    /// The shape of the values in JSON; nil: the type is neither JSONCodable nor Codable.
    var jsonSchema: JSONSchema? {
        if let type = Value.self as? any JSONCodable.Type { return type.jsonSchema }
        return Value.self is any Encodable.Type ? CodableJSON.jsonSchema(of: Value.self) : nil
    }

    /// A value together with its way to JSON.
    func value(_ value: Value) -> PublishedValue {
        PublishedValue(value: value) { path, writer in
            if let type = Value.self as? any JSONCodable.Type {
                return Self.write(value, type, at: path, into: &writer)
            }
            if let type = Value.self as? any Encodable.Type {
                return Self.writeCodable(value, type, at: path, into: &writer)
            }
            return false
        }
    }

    /// Whether two values are equal; by their JSON when the type does not compare, and not at all when it has none.
    func areEqual(_ first: Value, _ second: Value) -> Bool {
        if let type = Value.self as? any Equatable.Type { return Self.areEqual(first, second, type) }
        guard let text = json(first) else { return false }
        return text == json(second)
    }

    private func json(_ value: Value) -> [UInt8]? {
        var writer = JSONWriter()
        return self.value(value).encodeJSON(into: &writer) ? writer.bytes : nil
    }

    // The type of each is Value by another name, which the compiler does not know: the casts always succeed.

    private static func areEqual<Other: Equatable>(_ first: Value, _ second: Value, _ type: Other.Type) -> Bool {
        guard let first = first as? Other, let second = second as? Other else { return false }
        return first == second
    }

    private static func write<Other: JSONCodable>(
        _ value: Value,
        _ type: Other.Type,
        at path: ArraySlice<String>,
        into writer: inout JSONWriter
    ) -> Bool {
        guard let value = value as? Other else { return false }
        return value.encodeJSON(at: path, into: &writer)
    }

    private static func writeCodable<Other: Encodable>(
        _ value: Value,
        _ type: Other.Type,
        at path: ArraySlice<String>,
        into writer: inout JSONWriter
    ) -> Bool {
        guard let value = value as? Other else { return false }
        return CodableJSON.encode(value, at: path, into: &writer)
    }
}
