// Owns which values cannot be read again from what is stored of them.

import RivuletJSON

extension JSONSchema {
    /// The first place that is not stored and must be there to be read, as a JSON Pointer with `*` for any element; nil: there is none.
    var unreadablePlace: String? {
        var types: Set<ObjectIdentifier> = []
        return unreadablePlace(at: "", besides: &types)
    }

    /// Looks into each type once: that also ends it in a type that is within itself.
    private func unreadablePlace(at path: String, besides types: inout Set<ObjectIdentifier>) -> String? {
        switch self {
        case .annotated(let schema, _), .optional(let schema):
            return schema.unreadablePlace(at: path, besides: &types)
        case .object(_, let identity, let fields):
            if let identity, !types.insert(identity).inserted { return nil }
            for field in fields() {
                let place = path + "/" + JSONPointer.escape(field.name)
                if field.isTransient {
                    if field.isRequiredToRead { return place }
                } else if let found = field.schema.unreadablePlace(at: place, besides: &types) {
                    return found
                }
            }
            return nil
        case .named(_, let identity, let shape):
            return types.insert(identity).inserted ? shape().unreadablePlace(at: path, besides: &types) : nil
        case .array(let schema), .keyed(let schema, _), .dictionary(let schema):
            return schema.unreadablePlace(at: path + "/*", besides: &types)
        case .oneOf(let schemas), .anyOf(let schemas):
            for schema in schemas {
                if let found = schema.unreadablePlace(at: path, besides: &types) { return found }
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
