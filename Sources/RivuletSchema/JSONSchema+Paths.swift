// This file owns the facts of a shape that other files look up: its identity, the shapes below a value, and the kinds
// of JSON.

package import RivuletJSON

extension JSONSchema {
    /// The identity of a shape that is described once, under its title; nil for a shape that is described in place.
    var identity: Identity? {
        switch self {
        case .object(let title, let type, _) where !title.isEmpty: Identity(title, type)
        case .named(_, let type, _): .type(type)
        default: nil
        }
    }

    /// Returns the shape of the value at a path below a value of this shape; nil if no such value can have the path.
    ///
    /// A token `*` stands for any element of a collection. If a shape has several forms, the first form that has the
    /// path is used.
    package func schema(at path: ArraySlice<String>) -> JSONSchema? {
        guard let token = path.first else { return self }
        let rest = path.dropFirst()
        switch self {
        case .any: return .any
        case .null, .boolean, .integer, .number, .string: return nil
        case .array(let element):
            return token == "*" || JSONPointer.index(token) != nil ? element.schema(at: rest) : nil
        case .keyed(let element, let isID): return token == "*" || isID(token) ? element.schema(at: rest) : nil
        case .dictionary(let element): return element.schema(at: rest)
        case .optional(let schema), .annotated(let schema, _): return schema.schema(at: path)
        case .object(_, _, let fields): return fields().first { $0.name == token }?.schema.schema(at: rest)
        case .oneOf(let schemas), .anyOf(let schemas): return schemas.lazy.compactMap { $0.schema(at: path) }.first
        case .named(_, _, let shape): return shape().schema(at: path)
        }
    }

    /// The JSON kinds that values of this shape may have.
    package var kinds: Set<JSONKind> {
        switch self {
        case .any: [.object, .array, .string, .number, .bool, .null]
        case .null: [.null]
        case .boolean: [.bool]
        case .integer, .number: [.number]
        case .string: [.string]
        case .array, .keyed: [.array]
        case .dictionary, .object: [.object]
        case .optional(let schema): schema.kinds.union([.null])
        case .annotated(let schema, _): schema.kinds
        case .oneOf(let schemas), .anyOf(let schemas): schemas.reduce(into: []) { $0.formUnion($1.kinds) }
        case .named(_, _, let shape): shape().kinds
        }
    }
}
