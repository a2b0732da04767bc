// This file owns a small JSON Schema validator for the keywords that this package writes.

import RivuletJSON

/// Validates values against a schema document, independently of the types that made it.
///
/// `format` and unknown keywords are ignored, as JSON Schema 2020-12 requires.
struct SchemaValidator {
    let document: JSONValue

    func accepts(_ value: JSONValue) -> Bool { accepts(value, document) }

    private func accepts(_ value: JSONValue, _ schema: JSONValue) -> Bool {
        (schema.members ?? []).allSatisfy { accepts(value, keyword: $0.name, $0.value, in: schema) }
    }

    private func accepts(_ value: JSONValue, keyword: String, _ content: JSONValue, in schema: JSONValue) -> Bool {
        switch keyword {
        case "$ref": return target(of: content).map { accepts(value, $0) } == true
        case "type": return (content.elements ?? [content]).contains { isType(value, $0.stringValue) }
        case "const": return value == content
        case "enum": return content.elements?.contains(value) == true
        case "minimum": return compare(value, content, >=)
        case "maximum": return compare(value, content, <=)
        case "anyOf": return content.elements?.contains { accepts(value, $0) } == true
        case "oneOf": return content.elements?.count { accepts(value, $0) } == 1
        case "items": return value.elements?.allSatisfy { accepts($0, content) } != false
        case "maxProperties": return (value.members?.count ?? 0) <= (content.integerValue ?? 0)
        case "required":
            guard value.members != nil else { return true }
            return content.elements?.allSatisfy { $0.stringValue.map { value[$0] != nil } == true } == true
        case "properties":
            return content.members?.allSatisfy { member in
                value[member.name].map { accepts($0, member.value) } != false
            } == true
        case "additionalProperties":
            let known = schema["properties"]?.members?.map(\.name) ?? []
            return value.members?.allSatisfy { member in
                known.contains(member.name) || (content.boolValue ?? accepts(member.value, content))
            } != false
        default: return true
        }
    }

    private func target(of reference: JSONValue) -> JSONValue? {
        guard let text = reference.stringValue, text.hasPrefix("#"),
            let pointer = try? JSONPointer(parsing: String(text.dropFirst()))
        else { return nil }
        return document[pointer]
    }

    private func isType(_ value: JSONValue, _ name: String?) -> Bool {
        switch value {
        case .null: name == "null"
        case .bool: name == "boolean"
        case .number: name == "number" || (name == "integer" && value.doubleValue.map { $0 == $0.rounded() } == true)
        case .string: name == "string"
        case .array: name == "array"
        case .object: name == "object"
        }
    }

    private func compare(_ value: JSONValue, _ bound: JSONValue, _ holds: (Double, Double) -> Bool) -> Bool {
        guard let number = value.doubleValue, let bound = bound.doubleValue else { return true }
        return holds(number, bound)
    }
}
