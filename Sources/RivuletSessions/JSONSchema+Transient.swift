// Part of Rivulet. See README.md for the architecture.
// Owns which places of a state a restart puts back to their defaults.

import RivuletJSON

extension JSONSchema {
    /// The paths of what is never on disk; where an element, an optional value or a
    /// case's payload may have such a field, the path of the whole.
    var transientPaths: [String] {
        transientPaths(at: "")
    }

    // Ends, for a value holds another of its own type only in an optional, an array, a case and the like.
    private func transientPaths(at path: String) -> [String] {
        switch self {
        case .annotated(let schema, let annotations) where !annotations.contains(where: \.isTransient):
            schema.transientPaths(at: path)
        case .object(_, _, let fields):
            fields().flatMap { $0.schema.transientPaths(at: path + "/" + JSONPointer.escape($0.name)) }
        case .named(_, _, let shape):
            shape().transientPaths(at: path)
        default:
            holdsTransient(within: []) ? [path] : []
        }
    }

    /// Whether anything in it is never on disk; `types` are those that it is in.
    private func holdsTransient(within types: Set<ObjectIdentifier>) -> Bool {
        switch self {
        case .annotated(let schema, let annotations):
            return annotations.contains(where: \.isTransient) || schema.holdsTransient(within: types)
        case .object(_, let identity, let fields):
            var types = types
            // A type inside of itself has nothing that it does not have outside.
            if let identity, !types.insert(identity).inserted { return false }
            return fields().contains { $0.schema.holdsTransient(within: types) }
        case .named(_, let identity, let shape):
            var types = types
            guard types.insert(identity).inserted else { return false }
            return shape().holdsTransient(within: types)
        case .optional(let schema), .array(let schema), .keyed(let schema), .dictionary(let schema):
            return schema.holdsTransient(within: types)
        case .oneOf(let schemas), .anyOf(let schemas):
            return schemas.contains { $0.holdsTransient(within: types) }
        default:
            return false
        }
    }
}

extension JSONSchema.Annotation {
    fileprivate var isTransient: Bool { name == "x-rivulet-transient" }
}
