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
    /// The JSON that a new session has there; nil when it has nothing there.
    let standard: [UInt8]?

    /// The fields of the state, of all states nested in it, and of the cases of enums, outer ones first, in the order of declaration.
    ///
    /// The fields of the elements of a keyed collection are below a token `*`, which stands for any id.
    static func all<State: ObservableState>(of standard: State) -> [FieldDescription] {
        list(State._$fields, of: standard, below: [], isTransient: false)
    }

    private static func list(
        _ fields: [StateField],
        of standard: some ObservableState,
        below tokens: [String],
        isTransient: Bool
    ) -> [FieldDescription] {
        fields.flatMap { field in
            let path = tokens + [field.name]
            var writer = JSONWriter()
            let description = FieldDescription(
                path: JSONPointer(tokens: path).description,
                field: field,
                isTransient: isTransient || field.isTransient,
                standard: standard.encodeJSON(at: path[...], into: &writer) ? writer.bytes : nil
            )
            guard let below = field.addressed, path.count < depthMax else { return [description] }
            return [description]
                + list(
                    below(),
                    of: standard,
                    below: path + Array(repeating: "*", count: field.schema.keyedDepth),
                    isTransient: description.isTransient
                )
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
        if let standard {
            writer.key("default")
            writer.raw(standard)
        }
        writer.key("transient")
        writer.bool(isTransient)
        writer.key("omitted")
        writer.bool(field.isOmitted)
        writer.endObject()
    }
}
