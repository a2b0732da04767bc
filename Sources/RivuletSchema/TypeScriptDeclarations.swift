public import RivuletJSON

/// Writes schemas as the text of a TypeScript module of types: a `.d.ts` file.
///
/// Every titled object becomes an interface of its own, and every other named shape an alias. The text depends on the
/// schemas alone, so equal schemas give equal bytes. Source:
/// <https://www.typescriptlang.org/docs/handbook/declaration-files/introduction.html>.
public struct TypeScriptDeclarations: Sendable {
    /// A declaration that already has a name, but is not written yet.
    private struct Pending {
        let name: String
        let schema: JSONSchema
        let direction: JSONSchema.Direction
    }

    /// The key of a declaration: a type has one declaration for each direction.
    private struct Key: Hashable {
        let identity: JSONSchema.Identity
        let direction: JSONSchema.Direction
    }

    /// Aliases of `number` for integers that a `number` cannot hold exactly, by the format of the integers.
    private static let integers = [
        "int64": ("Int64", "A signed integer of 64 bits: exact in JSON, but a `number` is exact only up to 2^53."),
        "uint64": ("UInt64", "An unsigned integer of 64 bits: exact in JSON, but a `number` is exact only up to 2^53."),
    ]

    private let opening: String
    private var declarations: [String] = []
    /// The taken names: the names of the module, and `Record`, the only global type that the module's text uses.
    private var names: Set<String> = ["Record"]
    private var references: [Key: String] = [:]
    private var pending: [Pending] = []
    private var integerFormats: Set<String> = []

    /// Starts a module with a comment.
    ///
    /// `names` are the names that will be declared; no nested object takes one of them.
    public init(comment: String, names: [String]) {
        opening = Self.comment(comment)
        self.names.formUnion(names)
        self.names.formUnion(Self.integers.values.map(\.0))
    }

    /// The module as text, with a line break at its end.
    public var text: String {
        let aliases = integerFormats.sorted().compactMap { Self.integers[$0] }.map { name, comment in
            "\(Self.comment(comment))\nexport type \(name) = number;"
        }
        return ([opening] + declarations + aliases).joined(separator: "\n\n") + "\n"
    }

    /// Declares a type for a schema, and an interface for each titled object in it that is not declared yet.
    public mutating func declare(
        _ name: String,
        _ schema: JSONSchema,
        comment: String,
        direction: JSONSchema.Direction = .written
    ) {
        if let identity = schema.identity { references[Key(identity: identity, direction: direction)] = name }
        declarations.append("\(Self.comment(comment))\n\(declaration(name, schema, direction))")
        while !pending.isEmpty {
            let next = pending.removeFirst()
            declarations.append(declaration(next.name, next.schema, next.direction))
        }
    }

    /// Declares the type of the key paths that a value of the schema can have.
    public mutating func declareKeyPaths(_ name: String, of schema: JSONSchema, comment: String) {
        let paths = TypeScriptKeyPaths.all(of: schema).map { "\n    | \($0)" }.joined()
        declarations.append("\(Self.comment(comment))\nexport type \(name) =\(paths);")
    }

    // MARK: - Types

    private mutating func declaration(
        _ name: String,
        _ schema: JSONSchema,
        _ direction: JSONSchema.Direction
    ) -> String {
        switch schema {
        case .object(_, _, let fields): return interface(name, fields(), direction)
        case .named(_, _, let shape): return declaration(name, shape(), direction)
        default:
            let shapes = alternatives(of: schema, direction)
            let type = shapes.count > 1 ? shapes.map { "\n    | \($0)" }.joined() : " \(shapes.joined())"
            return "export type \(name) =\(type);"
        }
    }

    private mutating func interface(
        _ name: String,
        _ fields: [JSONSchema.Field],
        _ direction: JSONSchema.Direction
    ) -> String {
        let members = fields.flatMap { field in
            let facts = TypeScriptFacts.all(of: field, direction)
            return (facts.isEmpty ? [] : ["    \(Self.comment(facts.joined(separator: "; ")))"])
                + ["    \(member(field, direction));"]
        }
        guard !members.isEmpty else { return "export interface \(name) {}" }
        return "export interface \(name) {\n\(members.joined(separator: "\n"))\n}"
    }

    private mutating func member(_ field: JSONSchema.Field, _ direction: JSONSchema.Direction) -> String {
        let mark = field.isRequired(direction) ? "" : "?"
        return "\(Self.key(field.name))\(mark): \(type(of: field.schema(direction), direction))"
    }

    private mutating func type(of schema: JSONSchema, _ direction: JSONSchema.Direction) -> String {
        alternatives(of: schema, direction).joined(separator: " | ")
    }

    /// Returns the members of the union that makes up the type; most types are a union of one member.
    private mutating func alternatives(of schema: JSONSchema, _ direction: JSONSchema.Direction) -> [String] {
        switch schema {
        case .any: return ["unknown"]
        case .null: return ["null"]
        case .boolean: return ["boolean"]
        case .integer(let values?, _, _, _): return values.map(String.init)
        case .integer(nil, _, _, let format):
            guard let format, let (name, _) = Self.integers[format] else { return ["number"] }
            integerFormats.insert(format)
            return [name]
        case .number: return ["number"]
        case .string(let values, _): return values?.map(Self.literal) ?? ["string"]
        case .array(let element), .keyed(let element, _):
            let shapes = alternatives(of: element, direction)
            return [shapes.count > 1 ? "(\(shapes.joined(separator: " | ")))[]" : "\(shapes.joined())[]"]
        case .dictionary(let element): return ["Record<string, \(type(of: element, direction))>"]
        case .optional(let wrapped): return union([alternatives(of: wrapped, direction), ["null"]])
        case .annotated(let schema, _): return alternatives(of: schema, direction)
        case .oneOf(let schemas), .anyOf(let schemas):
            return union(schemas.map { alternatives(of: $0, direction) })
        case .named(let title, let type, _): return [reference(title, .type(type), schema, direction)]
        case .object(let title, _, let fields):
            if let identity = schema.identity { return [reference(title, identity, schema, direction)] }
            let members = fields().map { member($0, direction) }
            return [members.isEmpty ? "Record<string, never>" : "{ \(members.joined(separator: "; ")) }"]
        }
    }

    /// Returns each alternative once; `unknown` includes all others.
    private func union(_ parts: [[String]]) -> [String] {
        var seen: Set<String> = []
        let shapes = parts.joined().filter { seen.insert($0).inserted }
        if seen.contains("unknown") { return ["unknown"] }
        return shapes.isEmpty ? ["never"] : shapes
    }

    /// Returns the name of a shape's declaration, and queues the declaration at the first use of the name.
    private mutating func reference(
        _ title: String,
        _ identity: JSONSchema.Identity,
        _ schema: JSONSchema,
        _ direction: JSONSchema.Direction
    ) -> String {
        let key = Key(identity: identity, direction: direction)
        if let name = references[key] { return name }
        var plain = JSONSchemaDefinitions.name(of: title)
        // A name in lower case may be a keyword of the language.
        if plain.first?.isLowercase == true { plain = "_" + plain }
        if direction == .read { plain += "Input" }
        let name = JSONSchemaDefinitions.numbered(plain) { names.contains($0) }
        names.insert(name)
        references[key] = name
        pending.append(Pending(name: name, schema: schema, direction: direction))
        return name
    }

    // MARK: - Text

    /// Returns a comment with the text; a `*/` in the text does not end the comment.
    private static func comment(_ text: String) -> String {
        let oneLine = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return "/** \(oneLine.replacing("*/", with: "*\\/")) */"
    }

    /// Returns a property's name, quoted unless it is an identifier.
    private static func key(_ name: String) -> String {
        func isStart(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "_"), UInt8(ascii: "$"): true
            default: false
            }
        }
        let isIdentifier =
            name.utf8.first.map(isStart) == true
            && name.utf8.allSatisfy { isStart($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isIdentifier ? name : literal(name)
    }

    /// Returns a string literal with JSON's escapes, which TypeScript has too.
    static func literal(_ text: String) -> String {
        JSONValue.string(text).description
    }
}
