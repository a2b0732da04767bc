public import RivuletJSON

extension Generated {
    /// Writes the cases of event enums and of enums in states; generated code calls it.
    public enum CaseWriter {
        /// The key of a single value without a label in Swift's own form.
        static let singleKey = "_0"

        /// Writes a value of a payload.
        public static func write<Value: JSONCodable>(_ value: Value, into writer: inout JSONWriter) {
            value.encodeJSON(into: &writer)
        }

        /// Writes a payload's value of a type that is only Codable.
        @_disfavoredOverload
        public static func write<Value: Codable>(_ value: Value, into writer: inout JSONWriter) {
            CodableJSON.encode(value, into: &writer)
        }

        /// Writes a case with a single value without a label: `{"name":value}`.
        ///
        /// If the value's JSON begins with a key `_0`, the case is written in Swift's own form,
        /// `{"name":{"_0":value}}`. In the short form, a reader would take the value's own `_0` for the `_0` of Swift's
        /// form.
        public static func single<Value: JSONCodable>(_ name: String, _ value: Value, into writer: inout JSONWriter) {
            guard !Value.jsonSchema.isNoObject else {
                writer.beginObject()
                writer.key(name)
                value.encodeJSON(into: &writer)
                return writer.endObject()
            }
            guarded(name, into: &writer) { write(value, into: &$0) }
        }

        /// Writes a case with a single tracked value, which has key paths of its own: always `{"name":value}`.
        public static func single<Value: StateNode>(_ name: String, _ value: Value, into writer: inout JSONWriter) {
            writer.beginObject()
            writer.key(name)
            value.encodeJSON(into: &writer)
            writer.endObject()
        }

        /// Writes a case with a single value without a label, of a type that is only Codable.
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

        private static func guarded(_ name: String, into writer: inout JSONWriter, _ value: (inout JSONWriter) -> Void)
        {
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
                // The value is written again, so that the outer writer also records the unrepresentable number.
                value(&writer)
            } else {
                writer.raw(inner)
            }
            if isAmbiguous { writer.endObject() }
            writer.endObject()
        }
    }
}

extension JSONSchema {
    /// True if values are never objects, and so have no keys; the check builds no schema.
    fileprivate var isNoObject: Bool {
        switch self {
        case .null, .boolean, .integer, .number, .string, .array: true
        default: false
        }
    }

    /// Returns true if objects of this shape have a field of this name, and nil if they can have any key.
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
