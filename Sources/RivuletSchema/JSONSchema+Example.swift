// This file owns the sample values of shapes, for documents that show a sample.

package import RivuletJSON

extension JSONSchema {
    /// A small value of this shape in its written form, the same at each call; nil if no finite value is found.
    package var example: JSONValue? {
        var types: Set<Identity> = []
        return example(besides: &types)
    }

    /// Returns a sample value; `types` are the types around the value.
    ///
    /// A field with one of these types is left out if it is not required.
    private func example(besides types: inout Set<Identity>) -> JSONValue? {
        switch self {
        case .any, .null: .null
        case .boolean: true
        case .integer(let values?, _, _, _): values.first.map { .number(String($0)) }
        case .integer(nil, let minimum, let maximum, _):
            .number(String(min(max(minimum ?? .min, 1), maximum ?? .max)))
        case .number: .number("0.5")
        case .string(let values?, _): values.first.map(JSONValue.string)
        case .string(nil, let format): Self.text(of: format)
        case .array, .keyed: []
        case .dictionary: .object([])
        case .optional(let wrapped): wrapped.example(besides: &types) ?? .null
        case .object(_, _, let fields):
            Self.within(identity, &types) { types in Self.object(fields(), besides: &types) }
        case .named(_, _, let shape):
            Self.within(identity, &types) { types in shape().example(besides: &types) }
        case .oneOf(let schemas), .anyOf(let schemas): Self.first(of: schemas, besides: &types)
        case .annotated(let schema, let annotations):
            annotations.first { $0.name == "minimum" || $0.name == "maximum" }?.value ?? schema.example(besides: &types)
        }
    }

    private static func text(of format: String?) -> JSONValue {
        switch format {
        case "date-time": "2026-01-01T00:00:00Z"
        case "uuid": "00000000-0000-4000-8000-000000000000"
        default: "text"
        }
    }

    private static func within(
        _ type: Identity?,
        _ types: inout Set<Identity>,
        _ body: (inout Set<Identity>) -> JSONValue?
    ) -> JSONValue? {
        guard let type else { return body(&types) }
        guard types.insert(type).inserted else { return nil }
        defer { types.remove(type) }
        return body(&types)
    }

    private static func object(_ fields: [Field], besides types: inout Set<Identity>) -> JSONValue? {
        var members: [JSONValue.Member] = []
        for field in fields {
            if let value = field.schema.example(besides: &types) {
                members.append(JSONValue.Member(name: field.name, value: value))
            } else if field.isRequired {
                return nil
            }
        }
        return .object(members)
    }

    private static func first(of schemas: [JSONSchema], besides types: inout Set<Identity>) -> JSONValue? {
        for schema in schemas {
            if let value = schema.example(besides: &types) { return value }
        }
        return nil
    }
}
