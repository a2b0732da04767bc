public import RivuletJSON

/// Writes schemas so that each titled object is written once; other places have a reference to it.
///
/// A document of several schemas, such as OpenAPI's `components`, uses one value of this type for all schemas, and
/// writes ``members`` last.
public struct JSONSchemaDefinitions: Sendable {
    private let referencePrefix: String
    private let direction: JSONSchema.Direction
    private var references: [JSONSchema.Identity: String] = [:]
    private var definitions: [String: JSONValue] = [:]

    /// Starts with no definitions; a reference is `referencePrefix` followed by the definition's name.
    public init(referencePrefix: String = "#/$defs/", direction: JSONSchema.Direction = .written) {
        self.referencePrefix = referencePrefix
        self.direction = direction
    }

    /// The definitions to which the schemas so far refer, sorted by name.
    public var members: [JSONValue.Member] {
        definitions.sorted { $0.key < $1.key }.map { JSONValue.Member(name: $0.key, value: $0.value) }
    }

    /// The schema as JSON, with references to the definitions.
    public mutating func value(of schema: JSONSchema) -> JSONValue {
        .object(keywords(of: schema))
    }

    /// The keywords of a document's root: a titled object stays in place and refers to itself as `#`.
    mutating func root(_ schema: JSONSchema) -> [JSONValue.Member] {
        if case .annotated(let schema, let annotations) = schema { return Self.adding(annotations, to: root(schema)) }
        guard let identity = schema.identity else { return keywords(of: schema) }
        references[identity] = "#"
        return definition(of: schema)
    }

    /// Returns a title as a name that needs no escapes and is an identifier in most languages: `Pair<Int, Tag>` is
    /// `Pair_Int_Tag`.
    static func name(of title: String) -> String {
        let words = title.split { !$0.isASCII || !($0.isLetter || $0.isNumber || $0 == "_") }
        let name = words.joined(separator: "_")
        return name.first?.isNumber == false ? name : "_" + name
    }

    /// Returns the name, or, if it is taken, the first free name of `Name2`, `Name3` and so on.
    static func numbered(_ name: String, isTaken: (String) -> Bool) -> String {
        guard isTaken(name) else { return name }
        var number = 2
        while isTaken("\(name)\(number)") { number += 1 }
        return "\(name)\(number)"
    }

    private mutating func keywords(of schema: JSONSchema) -> [JSONValue.Member] {
        switch schema {
        case .any: return []
        case .null: return [Self.type("null")]
        case .boolean: return [Self.type("boolean")]
        case .integer(let values?, _, _, let format):
            return Self.words(values.map { .number(String($0)) }, type: "integer", format: format)
        case .integer(nil, let minimum, let maximum, let format):
            return Self.list([
                ("type", "integer"), ("minimum", minimum.map { .number(String($0)) }),
                ("maximum", maximum.map { .number(String($0)) }), ("format", format.map(JSONValue.string)),
            ])
        case .number(let format): return Self.list([("type", "number"), ("format", format.map(JSONValue.string))])
        case .string(let values, let format):
            return Self.words(values?.map(JSONValue.string), type: "string", format: format)
        case .array(let element): return Self.list([("type", "array"), ("items", value(of: element))])
        case .keyed(let element, _):
            // The keyword says that a key path continues with an element's id. No standard keyword can say this.
            return Self.list([("type", "array"), ("items", value(of: element)), ("x-rivulet-keyed", true)])
        case .dictionary(let element):
            return Self.list([("type", "object"), ("additionalProperties", value(of: element))])
        case .optional(let wrapped): return optional(wrapped)
        case .object(let title, _, _), .named(let title, _, _):
            guard let identity = schema.identity else { return definition(of: schema) }
            return Self.list([("$ref", .string(reference(title, identity, schema)))])
        // JSON Schema demands at least one alternative. An empty list becomes `not: {}`, which refuses every value.
        // Source: <https://json-schema.org/draft/2020-12/json-schema-core#section-10.2.1>.
        case .oneOf(let schemas) where schemas.isEmpty, .anyOf(let schemas) where schemas.isEmpty:
            return Self.list([("not", .object([]))])
        case .oneOf(let schemas): return Self.list([("oneOf", .array(schemas.map { value(of: $0) }))])
        case .anyOf(let schemas): return Self.list([("anyOf", .array(schemas.map { value(of: $0) }))])
        case .annotated(let schema, let annotations): return Self.adding(annotations, to: keywords(of: schema))
        }
    }

    private static func adding(
        _ annotations: [JSONSchema.Annotation],
        to keywords: [JSONValue.Member]
    ) -> [JSONValue.Member] {
        keywords.filter { keyword in !annotations.contains { $0.name == keyword.name } }
            + annotations.map { JSONValue.Member(name: $0.name, value: $0.value) }
    }

    /// Returns the reference to a definition, and makes the definition at its first use.
    private mutating func reference(
        _ title: String,
        _ identity: JSONSchema.Identity,
        _ schema: JSONSchema
    ) -> String {
        if let reference = references[identity] { return reference }
        let name = Self.numbered(Self.name(of: title)) { definitions[$0] != nil }
        let reference = referencePrefix + name
        references[identity] = reference
        // The name is taken before the shape is described, because the shape may refer to itself.
        definitions[name] = .null
        definitions[name] = .object(definition(of: schema))
        return reference
    }

    /// The keywords of an object or a named shape, with its title and without a reference to it.
    private mutating func definition(of schema: JSONSchema) -> [JSONValue.Member] {
        switch schema {
        case .object(let title, _, let fields): object(title: title, fields: fields())
        case .named(let title, _, let shape): Self.list([("title", .string(title))]) + keywords(of: shape())
        default: keywords(of: schema)
        }
    }

    private mutating func object(title: String, fields: [JSONSchema.Field]) -> [JSONValue.Member] {
        let properties = fields.map { JSONValue.Member(name: $0.name, value: .object(property($0))) }
        let required = fields.filter { $0.isRequired(direction) }.map { JSONValue.string($0.name) }
        return Self.list([
            ("title", title.isEmpty ? nil : .string(title)), ("type", "object"), ("properties", .object(properties)),
            ("required", required.isEmpty ? nil : .array(required)),
        ])
    }

    private mutating func property(_ field: JSONSchema.Field) -> [JSONValue.Member] {
        let keywords = keywords(of: field.schema(direction))
        guard let defaultValue = field.defaultValue?() else { return keywords }
        return Self.adding([JSONSchema.Annotation("default", defaultValue)], to: keywords)
    }

    private mutating func optional(_ wrapped: JSONSchema) -> [JSONValue.Member] {
        let keywords = keywords(of: wrapped)
        switch wrapped {
        case .any, .null, .optional: return keywords
        case .boolean, .integer(values: nil, _, _, _), .number, .string(values: nil, _), .array, .keyed, .dictionary:
            return keywords.map { keyword in
                guard keyword.name == "type" else { return keyword }
                return JSONValue.Member(name: "type", value: .array([keyword.value, "null"]))
            }
        case .integer, .string, .object, .oneOf, .anyOf, .named, .annotated:
            return Self.list([("anyOf", .array([.object(keywords), ["type": "null"]]))])
        }
    }

    /// Returns the keywords of a shape; `values` has the only allowed values, or is nil if all values are allowed.
    private static func words(_ values: [JSONValue]?, type: String, format: String?) -> [JSONValue.Member] {
        let isConstant = values?.count == 1
        return list([
            ("type", .string(type)), ("const", isConstant ? values?.first : nil),
            ("enum", isConstant ? nil : values.map(JSONValue.array)), ("format", format.map(JSONValue.string)),
        ])
    }

    private static func type(_ name: String) -> JSONValue.Member {
        JSONValue.Member(name: "type", value: .string(name))
    }

    private static func list(_ members: [(name: String, value: JSONValue?)]) -> [JSONValue.Member] {
        members.compactMap { member in member.value.map { JSONValue.Member(name: member.name, value: $0) } }
    }
}

extension JSONSchema {
    /// Writes the schema document; titled objects other than the root are under `$defs`.
    public func encodeJSON(into writer: inout JSONWriter, direction: Direction = .written) {
        document(direction).encodeJSON(into: &writer)
    }

    /// The schema document of the written form; titled objects other than the root are under `$defs`.
    public var document: JSONValue { document(.written) }

    /// The schema document; titled objects other than the root are under `$defs`.
    public func document(_ direction: Direction) -> JSONValue {
        var definitions = JSONSchemaDefinitions(direction: direction)
        var members = [
            JSONValue.Member(name: "$schema", value: "https://json-schema.org/draft/2020-12/schema")
        ]
        members += definitions.root(self)
        if !definitions.members.isEmpty {
            members.append(JSONValue.Member(name: "$defs", value: .object(definitions.members)))
        }
        return .object(members)
    }
}
