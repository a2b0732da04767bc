import RivuletJSON
import RivuletObservation

/// One field of a state, with its key path, its wrapper and its default.
struct FieldDescription {
    /// The most levels of nested states that are described.
    private static let depthMax = 16
    /// The most fields that are described; a level of nesting that would exceed this number is left out, with all
    /// levels below it.
    private static let fieldsMax = 4_096

    /// The key path; a token `*` stands for any id.
    let tokens: [String]
    let field: StateField
    /// True if the field, or a value that contains it, is only in memory.
    let isTransient: Bool
    /// The JSON of the field in a new session; nil if the session has no value there.
    let defaultValue: [UInt8]?

    /// Returns the fields of the state, of all nested states and of the cases of enums, outer ones first, in the order
    /// of declaration.
    ///
    /// The fields of the elements of a keyed collection are below a token `*`, which stands for any id. If a field has
    /// the type of a state that contains it, no fields are listed below the field: the list would have no end. With
    /// `isCanonical`, the texts of the defaults are the same in every process, but a text is not always JSON that can
    /// be read back.
    static func all<State: ObservableState>(of defaultValue: State, isCanonical: Bool = false) -> [FieldDescription] {
        positions(in: State.self).map { position in
            var writer = JSONWriter()
            writer.isCanonical = isCanonical
            return FieldDescription(
                tokens: position.tokens,
                field: position.field,
                isTransient: position.isTransient,
                defaultValue: defaultValue.encodeJSON(at: position.tokens[...], into: &writer) ? writer.bytes : nil
            )
        }
    }

    /// The same description without the default.
    var withoutDefault: FieldDescription {
        FieldDescription(tokens: tokens, field: field, isTransient: isTransient, defaultValue: nil)
    }

    /// A field and its key path.
    private struct Position {
        let tokens: [String]
        let field: StateField
        let isTransient: Bool
        /// The types that contain the field, and its own type.
        let types: Set<ObjectIdentifier>
        /// True if the fields below this field are not in the list yet.
        let isOpen: Bool

        init(_ field: StateField, below tokens: [String], isTransient: Bool, in types: Set<ObjectIdentifier>) {
            self.tokens = tokens + [field.name]
            self.field = field
            self.isTransient = isTransient || field.isTransient
            let type = field.accepted.elementType
            self.types = type.map { types.union([$0]) } ?? types
            isOpen = field.addressed != nil && type.map(types.contains) != true
        }

        private init(closing position: Position) {
            tokens = position.tokens
            field = position.field
            isTransient = position.isTransient
            types = position.types
            isOpen = false
        }

        /// This field, and the fields right below it.
        var opened: [Position] {
            guard isOpen, let below = field.addressed else { return [self] }
            let tokens = tokens + Array(repeating: "*", count: field.schema.keyedDepth)
            return [Position(closing: self)]
                + below().map { Position($0, below: tokens, isTransient: isTransient, in: types) }
        }
    }

    private static func positions<State: ObservableState>(in state: State.Type) -> [Position] {
        let types = Set([State.jsonSchema.elementType].compactMap(\.self))
        var positions = State._$fields.map { Position($0, below: [], isTransient: false, in: types) }
        // The list grows level by level, so that only the deepest fields are left out.
        for _ in 1..<depthMax where positions.contains(where: \.isOpen) {
            let deeper = positions.flatMap(\.opened)
            guard deeper.count <= fieldsMax else { break }
            positions = deeper
        }
        return positions
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
        if let defaultValue {
            writer.key("default")
            writer.raw(defaultValue)
        }
        writer.key("transient")
        writer.bool(isTransient)
        writer.key("omitted")
        writer.bool(field.isOmitted)
        writer.endObject()
    }
}

extension JSONSchema {
    /// The identity of the state or enum type that a value of this shape has.
    ///
    /// For a keyed collection, it is the type of the elements. The result is nil if the type is neither a state nor an
    /// enum.
    fileprivate var elementType: ObjectIdentifier? {
        switch self {
        case .object(_, let identity, _): identity
        case .named(_, let identity, _): identity
        case .optional(let schema), .annotated(let schema, _), .keyed(let schema, _): schema.elementType
        default: nil
        }
    }
}
