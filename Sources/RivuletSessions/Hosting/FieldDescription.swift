import RivuletJSON
import RivuletObservation

/// One field of a state, by its key path, with what its wrapper does to it.
struct FieldDescription {
    /// How deep nested states are described.
    private static let depthMax = 16
    /// A level of nesting with which the fields would be more than so many is not described, nor what is below it.
    private static let fieldsMax = 4_096

    /// The key path; a token `*` stands for any id.
    let tokens: [String]
    let field: StateField
    /// Whether it, or something that holds it, is only in memory.
    let isTransient: Bool
    /// The JSON that a new session has there; nil when it has nothing there.
    let standard: [UInt8]?

    /// The fields of the state, of all states nested in it, and of the cases of enums, outer ones first, in the order of declaration.
    ///
    /// The fields of the elements of a keyed collection are below a token `*`, which stands for any id. A field whose type is one that
    /// it is in has nothing below it: the fields there are those of that type, and have no end. Defaults in `isCanonical` form are the same in
    /// every process, and not always JSON that can be read.
    static func all<State: ObservableState>(of standard: State, isCanonical: Bool = false) -> [FieldDescription] {
        places(in: State.self).map { place in
            var writer = JSONWriter()
            writer.isCanonical = isCanonical
            return FieldDescription(
                tokens: place.tokens,
                field: place.field,
                isTransient: place.isTransient,
                standard: standard.encodeJSON(at: place.tokens[...], into: &writer) ? writer.bytes : nil
            )
        }
    }

    /// The same but for the default.
    var withoutStandard: FieldDescription {
        FieldDescription(tokens: tokens, field: field, isTransient: isTransient, standard: nil)
    }

    /// Where a field stands.
    private struct Place {
        let tokens: [String]
        let field: StateField
        let isTransient: Bool
        /// The types that the field is in, and its own.
        let types: Set<ObjectIdentifier>
        /// Whether what is below it is still to be found.
        let isOpen: Bool

        init(_ field: StateField, below tokens: [String], isTransient: Bool, in types: Set<ObjectIdentifier>) {
            self.tokens = tokens + [field.name]
            self.field = field
            self.isTransient = isTransient || field.isTransient
            let type = field.accepted.elementType
            self.types = type.map { types.union([$0]) } ?? types
            isOpen = field.addressed != nil && type.map(types.contains) != true
        }

        private init(closing place: Place) {
            tokens = place.tokens
            field = place.field
            isTransient = place.isTransient
            types = place.types
            isOpen = false
        }

        /// The place, and those of the fields right below it.
        var opened: [Place] {
            guard isOpen, let below = field.addressed else { return [self] }
            let tokens = tokens + Array(repeating: "*", count: field.schema.keyedDepth)
            return [Place(closing: self)]
                + below().map { Place($0, below: tokens, isTransient: isTransient, in: types) }
        }
    }

    private static func places<State: ObservableState>(in state: State.Type) -> [Place] {
        let types = Set([State.jsonSchema.elementType].compactMap(\.self))
        var places = State._$fields.map { Place($0, below: [], isTransient: false, in: types) }
        // Level by level, so that what is left out is what lies deepest.
        for _ in 1..<depthMax where places.contains(where: \.isOpen) {
            let deeper = places.flatMap(\.opened)
            guard deeper.count <= fieldsMax else { break }
            places = deeper
        }
        return places
    }

    func encodeJSON(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("path")
        writer.string(JSONPointer(tokens: tokens).description)
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

extension JSONSchema {
    /// The state or enum that a value of this shape is or keeps by id, if it is of a type of its own.
    fileprivate var elementType: ObjectIdentifier? {
        switch self {
        case .object(_, let identity, _): identity
        case .named(_, let identity, _): identity
        case .optional(let schema), .annotated(let schema, _), .keyed(let schema, _): schema.elementType
        default: nil
        }
    }
}
