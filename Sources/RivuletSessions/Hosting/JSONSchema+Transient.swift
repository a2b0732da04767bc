// Owns the list of the fields that have their defaults after a restart.

package import RivuletJSON

extension JSONSchema {
    /// The paths of values that are never on disk.
    ///
    /// If such a value is within an element, an optional or a case's payload, the list has the path of the whole
    /// collection, optional or enum. An object without fields is always the same, and is left out.
    package var transientPaths: [String] {
        transientPaths(at: "")
    }

    // The recursion ends: a value can contain another value of its own type only in an optional, an array, a case and
    // the like. The recursion does not enter these.
    private func transientPaths(at path: String) -> [String] {
        switch self {
        case .annotated(let schema, let annotations) where !annotations.contains(where: \.isTransient):
            schema.transientPaths(at: path)
        case .annotated(let schema, _) where schema.isEmptyObject: []
        case .object(_, _, let fields):
            fields().flatMap { $0.schema.transientPaths(at: path + "/" + JSONPointer.escape($0.name)) }
        case .named(_, _, let shape):
            shape().transientPaths(at: path)
        default:
            holdsTransient ? [path] : []
        }
    }

    /// True for an object without fields.
    private var isEmptyObject: Bool {
        switch self {
        case .annotated(let schema, _): schema.isEmptyObject
        case .object(_, _, let fields): fields().isEmpty
        case .named(_, _, let shape): shape().isEmptyObject
        default: false
        }
    }

    /// True if any part of the value is never on disk.
    private var holdsTransient: Bool {
        var types: Set<ObjectIdentifier> = []
        return holdsTransient(besides: &types)
    }

    /// Returns true if any part of the value is never on disk, except for parts of the types in `types`.
    ///
    /// The visited types are added to `types`. A visited type has no such part, or the search would have ended there.
    /// This also ends the search in a type that contains itself.
    private func holdsTransient(besides types: inout Set<ObjectIdentifier>) -> Bool {
        switch self {
        case .annotated(let schema, let annotations):
            return annotations.contains(where: \.isTransient) || schema.holdsTransient(besides: &types)
        case .object(_, let identity, let fields):
            if let identity, !types.insert(identity).inserted { return false }
            return fields().contains { $0.schema.holdsTransient(besides: &types) }
        case .named(_, let identity, let shape):
            return types.insert(identity).inserted && shape().holdsTransient(besides: &types)
        case .optional(let schema), .array(let schema), .keyed(let schema, _), .dictionary(let schema):
            return schema.holdsTransient(besides: &types)
        case .oneOf(let schemas), .anyOf(let schemas):
            return schemas.contains { $0.holdsTransient(besides: &types) }
        case .any, .null, .boolean, .integer, .number, .string:
            return false
        }
    }
}

extension JSONSchema.Annotation {
    fileprivate var isTransient: Bool { name == "x-rivulet-transient" }
}
