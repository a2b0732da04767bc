extension CodableJSON {
    /// The most cases of a type for which the schema lists the values.
    ///
    /// A larger type has only the shape of its raw values.
    private static let casesMax = 1_000

    /// Returns the shape of a type that is only Codable; `any` if the type says nothing about its values.
    ///
    /// A `CaseIterable` type that writes strings or integers lists its values. A `RawRepresentable` type has the
    /// shape of its raw values. Optionals, arrays and dictionaries have the shape that their elements give. The
    /// function is slow: it is for descriptions and errors.
    package static func jsonSchema(of type: Any.Type) -> JSONSchema {
        knownSchema(of: type) ?? .any
    }

    /// Returns the shape of a type; nil if the type says nothing about its values.
    static func knownSchema(of type: Any.Type) -> JSONSchema? {
        if let container = type as? any ShapedContainer.Type { return container.knownSchema }
        if let cases = type as? any CaseIterable.Type, let schema = valuesSchema(of: cases) { return schema }
        guard let raw = type as? any RawRepresentable.Type else { return nil }
        return rawSchema(of: raw)
    }

    /// Returns the shape that lists the values as `encode(to:)` writes them; nil if they cannot be listed.
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

/// A standard collection.
///
/// Its shape is known if the shape of its elements is known.
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
    /// The shape of a dictionary with string keys; nil for other keys, with which the JSON is not always an object.
    fileprivate static var knownSchema: JSONSchema? {
        guard Key.self == String.self else { return nil }
        return CodableJSON.knownSchema(of: Value.self).map { .dictionary($0) }
    }
}
