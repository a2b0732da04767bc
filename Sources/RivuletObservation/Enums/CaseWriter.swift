public import RivuletJSON

/// Writes the cases of enums, of events and in states; generated code calls it.
public enum CaseWriter {
    /// The key under which Swift's own form has a single value without a label.
    static let singleKey = "_0"

    /// Writes a value of a payload.
    public static func write<Value: JSONCodable>(_ value: Value, into writer: inout JSONWriter) {
        value.encodeJSON(into: &writer)
    }

    /// Writes a value of a payload that is only Codable.
    @_disfavoredOverload
    public static func write<Value: Codable>(_ value: Value, into writer: inout JSONWriter) {
        CodableJSON.encode(value, into: &writer)
    }

    /// Writes a case with a single value without a label: `{"name":value}`.
    ///
    /// A value that itself begins with a key `_0` gets Swift's own form around it, or it would be read as that form.
    public static func single<Value: JSONCodable>(_ name: String, _ value: Value, into writer: inout JSONWriter) {
        guard !Value.jsonSchema.isNoObject else {
            writer.beginObject()
            writer.key(name)
            value.encodeJSON(into: &writer)
            return writer.endObject()
        }
        guarded(name, into: &writer) { write(value, into: &$0) }
    }

    /// Writes a case with a single value whose own places have key paths: always `{"name":value}`.
    public static func single<Value: StateNode>(_ name: String, _ value: Value, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.key(name)
        value.encodeJSON(into: &writer)
        writer.endObject()
    }

    /// Writes a case with a single value without a label that is only Codable.
    @_disfavoredOverload
    public static func single<Value: Codable>(_ name: String, _ value: Value, into writer: inout JSONWriter) {
        guarded(name, into: &writer) { write(value, into: &$0) }
    }

    /// Writes a case with labelled or several values: `{"name":{…}}`.
    public static func values(_ name: String, into writer: inout JSONWriter, _ values: (inout JSONWriter) -> Void) {
        writer.beginObject()
        writer.key(name)
        writer.beginObject()
        values(&writer)
        writer.endObject()
        writer.endObject()
    }

    private static func guarded(_ name: String, into writer: inout JSONWriter, _ value: (inout JSONWriter) -> Void) {
        var inner = JSONWriter(like: writer)
        value(&inner)
        writer.beginObject()
        writer.key(name)
        let isAmbiguous = inner.bytes.starts(with: #"{"\#(singleKey)":"#.utf8)
        if isAmbiguous {
            writer.beginObject()
            writer.key(singleKey)
        }
        if inner.hasUnrepresentableNumber {
            // Written anew, so that the outer writer knows of the number as well.
            value(&writer)
        } else {
            writer.raw(inner)
        }
        if isAmbiguous { writer.endObject() }
        writer.endObject()
    }
}

extension JSONSchema {
    /// Whether values are never objects, and so have no key; nothing is made to find it out.
    fileprivate var isNoObject: Bool {
        switch self {
        case .null, .boolean, .integer, .number, .string, .array: true
        default: false
        }
    }

    /// Whether objects of this shape have a field of this name; nil when they can have any key.
    func hasKey(_ key: String) -> Bool? {
        switch self {
        case .object(_, _, let fields): return fields().contains { $0.name == key }
        case .oneOf(let schemas), .anyOf(let schemas):
            let answers = schemas.map { $0.hasKey(key) }
            return answers.contains(true) ? true : answers.contains(nil) ? nil : false
        case .optional(let schema), .annotated(let schema, _): return schema.hasKey(key)
        case .named(_, _, let shape): return shape().hasKey(key)
        case .any, .dictionary: return nil
        case .null, .boolean, .integer, .number, .string, .array, .keyed: return false
        }
    }
}
