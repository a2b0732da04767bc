extension CodableJSON {
    /// A type of more cases tells the shape of its raw values only.
    private static let casesMax = 1_000

    /// The shape of a type that is only Codable: any, unless the type tells more of itself.
    ///
    /// A `CaseIterable` type tells its values if it writes strings or integers, a `RawRepresentable` one the shape of its raw values, and
    /// optionals, arrays and dictionaries tell what their elements do. Slow: for descriptions and errors.
    package static func jsonSchema(of type: Any.Type) -> JSONSchema {
        knownSchema(of: type) ?? .any
    }

    /// The same; nil when the type does not tell it.
    static func knownSchema(of type: Any.Type) -> JSONSchema? {
        if let container = type as? any ShapedContainer.Type { return container.knownSchema }
        if let cases = type as? any CaseIterable.Type, let schema = valuesSchema(of: cases) { return schema }
        guard let raw = type as? any RawRepresentable.Type else { return nil }
        return rawSchema(of: raw)
    }

    /// The values as they are written, whatever `encode(to:)` makes of them.
    private static func valuesSchema<Value: CaseIterable>(of type: Value.Type) -> JSONSchema? {
        let cases = type.allCases.prefix(casesMax + 1)
        guard !cases.isEmpty, cases.count <= casesMax else { return nil }
        let values = cases.map { value -> JSONValue in
            guard let value = value as? any Encodable else { return .null }
            var writer = JSONWriter()
            encode(value, into: &writer)
            return (try? JSONValue(parsing: writer.bytes)) ?? .null
        }
        let texts = values.compactMap(\.stringValue)
        if texts.count == values.count { return .string(values: texts) }
        let numbers = values.compactMap { try? Int128(jsonBytes: Array($0.description.utf8)) }
        return numbers.count == values.count ? .integer(values: numbers) : nil
    }

    private static func rawSchema<Value: RawRepresentable>(of type: Value.Type) -> JSONSchema? {
        (Value.RawValue.self as? any JSONCodable.Type)?.jsonSchema
    }
}

/// A standard collection, whose shape is known if that of its elements is.
private protocol ShapedContainer {
    static var knownSchema: JSONSchema? { get }
}

extension Optional: ShapedContainer {
    fileprivate static var knownSchema: JSONSchema? {
        CodableJSON.knownSchema(of: Wrapped.self).map { .optional($0) }
    }
}

extension Array: ShapedContainer {
    fileprivate static var knownSchema: JSONSchema? {
        CodableJSON.knownSchema(of: Element.self).map { .array($0) }
    }
}

extension Dictionary: ShapedContainer {
    /// Other keys than strings have forms of their own.
    fileprivate static var knownSchema: JSONSchema? {
        guard Key.self == String.self else { return nil }
        return CodableJSON.knownSchema(of: Value.self).map { .dictionary($0) }
    }
}
