// Part of Rivulet. See README.md for the architecture.
// Owns what the description of an app says of each field.

import RivuletJSON
import RivuletObservation

/// One field of a state, by its key path, with what its wrapper does to it.
struct FieldDescription {
    /// How deep nested states are described; recursive ones end here.
    private static let depthMax = 16

    let path: String
    let field: StateField
    /// Whether it, or something that holds it, is only in memory.
    let isTransient: Bool

    /// The fields of the state and of all states nested in it, outer ones first, in the order of declaration.
    static func all(of state: (some ObservableState).Type) -> [FieldDescription] {
        list(state._$fields, below: "", isTransient: false, depth: 1)
    }

    private static func list(
        _ fields: [StateField],
        below path: String,
        isTransient: Bool,
        depth: Int
    ) -> [FieldDescription] {
        fields.flatMap { field in
            let description = FieldDescription(
                path: path + "/" + JSONPointer.escape(field.name),
                field: field,
                isTransient: isTransient || field.isTransient
            )
            guard let nested = field.nested, depth < depthMax else { return [description] }
            return [description]
                + list(nested(), below: description.path, isTransient: description.isTransient, depth: depth + 1)
        }
    }

    func encodeJSON(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("path")
        writer.string(path)
        if let wrapper = field.wrapper {
            writer.key("wrapper")
            writer.string(wrapper)
        }
        if let config = field.config {
            writer.key("config")
            writer.string(config)
        }
        writer.key("transient")
        writer.bool(isTransient)
        writer.key("omitted")
        writer.bool(field.isOmitted)
        writer.endObject()
    }
}
