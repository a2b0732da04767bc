import RivuletJSON

/// The facts of a field's schema that a TypeScript type cannot express, in words.
struct TypeScriptFacts {
    /// The maximum length of a default in a comment, in bytes; a longer default is left out.
    private static let defaultBytesMax = 80

    /// Returns the facts in a fixed order: description, range, formats, addressing, further keywords, default.
    static func all(of field: JSONSchema.Field, _ direction: JSONSchema.Direction) -> [String] {
        var facts = TypeScriptFacts()
        facts.add(field.schema(direction))
        if let defaultValue = field.defaultValue?()?.description, defaultValue.utf8.count <= defaultBytesMax {
            facts.others.append("default \(defaultValue)")
        }
        return [facts.description, facts.range].compactMap(\.self) + facts.others
    }

    private var description: String?
    private var minimum: String?
    private var maximum: String?
    private var others: [String] = []

    private var range: String? {
        switch (minimum, maximum) {
        case (nil, nil): nil
        case (let minimum?, nil): "at least \(minimum)"
        case (nil, let maximum?): "at most \(maximum)"
        case (let minimum?, let maximum?): "\(minimum)...\(maximum)"
        }
    }

    /// Adds the facts of a value itself, not of its contents.
    private mutating func add(_ schema: JSONSchema) {
        switch schema {
        case .integer(_, let minimum, let maximum, _):
            self.minimum = minimum.map(String.init)
            self.maximum = maximum.map(String.init)
        case .string(_, let format?): others.append(format)
        case .keyed: others.append("addressed by id")
        case .optional(let schema): add(schema)
        case .annotated(let schema, let annotations):
            add(schema)
            for annotation in annotations { add(annotation) }
        case .any, .null, .boolean, .number, .string, .array, .dictionary, .object, .oneOf, .anyOf, .named: break
        }
    }

    private mutating func add(_ annotation: JSONSchema.Annotation) {
        let value = annotation.value.stringValue ?? annotation.value.description
        switch annotation.name {
        case "description": description = value
        case "minimum": minimum = value
        case "maximum": maximum = value
        case "x-rivulet-transient": others.append("in memory only")
        default: others.append("\(annotation.name) \(value)")
        }
    }
}
