// This file finds values that cannot be read again from their stored form.

import RivuletJSON

extension JSONSchema {
    /// The path of the first field that is not stored but is required to read a value; nil if there is none.
    ///
    /// The path is a JSON Pointer with `*` for any element.
    var unreadablePath: String? {
        var types: Set<ObjectIdentifier> = []
        return unreadablePath(at: "", besides: &types)
    }

    /// Visits each type only once, which also ends the search in recursive types.
    private func unreadablePath(at path: String, besides types: inout Set<ObjectIdentifier>) -> String? {
        switch self {
        case .annotated(let schema, _), .optional(let schema):
            return schema.unreadablePath(at: path, besides: &types)
        case .object(_, let identity, let fields):
            if let identity, !types.insert(identity).inserted { return nil }
            for field in fields() {
                let fieldPath = path + "/" + JSONPointer.escape(field.name)
                if field.isTransient {
                    if field.isRequiredToRead { return fieldPath }
                } else if let found = field.schema.unreadablePath(at: fieldPath, besides: &types) {
                    return found
                }
            }
            return nil
        case .named(_, let identity, let shape):
            return types.insert(identity).inserted ? shape().unreadablePath(at: path, besides: &types) : nil
        case .array(let schema), .keyed(let schema, _), .dictionary(let schema):
            return schema.unreadablePath(at: path + "/*", besides: &types)
        case .oneOf(let schemas), .anyOf(let schemas):
            for schema in schemas {
                if let found = schema.unreadablePath(at: path, besides: &types) { return found }
            }
            return nil
        case .any, .null, .boolean, .integer, .number, .string:
            return nil
        }
    }
}

extension JSONSchema.Field {
    fileprivate var isTransient: Bool {
        guard case .annotated(_, let annotations) = schema else { return false }
        return annotations.contains { $0.name == "x-rivulet-transient" }
    }
}
