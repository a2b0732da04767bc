import RivuletJSON

/// Lists the key paths of a schema, as string literals and, below collections, as template literals.
struct TypeScriptKeyPaths {
    /// The maximum number of paths; beyond it, the type is any pointer, because compilers become slow on large unions.
    private static let pathsMax = 1_000

    /// The beginning of a path: `template` is its text in a template literal, `text` its text in a string literal.
    ///
    /// `text` is nil if the path has a substitution, such as `${string}`.
    private struct Path {
        var template = ""
        var text: String? = ""

        func appending(token: String) -> Path {
            let escaped = "/" + JSONPointer.escape(token)
            let inTemplate = escaped.replacing("\\", with: "\\\\").replacing("`", with: "\\`")
                .replacing("$", with: "\\$")
            return Path(template: template + inTemplate, text: text.map { $0 + escaped })
        }

        func appending(substitution: String) -> Path {
            Path(template: "\(template)/${\(substitution)}", text: nil)
        }

        var type: String { text.map(TypeScriptDeclarations.literal) ?? "`\(template)`" }
    }

    private var types: [String] = []
    private var seen: Set<String> = []
    /// The objects around the value whose paths are being listed.
    private var open: Set<JSONSchema.Identity> = []

    /// Returns the types of all key paths in the order of declaration, beginning with the empty path.
    static func all(of schema: JSONSchema) -> [String] {
        var paths = TypeScriptKeyPaths()
        paths.add(Path(), schema)
        return paths.types.count <= pathsMax ? paths.types : [#""""#, "`/${string}`"]
    }

    private mutating func add(_ path: Path, _ schema: JSONSchema) {
        append(path)
        addBelow(path, schema)
    }

    private mutating func append(_ path: Path) {
        guard seen.insert(path.type).inserted else { return }
        types.append(path.type)
    }

    private mutating func addBelow(_ path: Path, _ schema: JSONSchema) {
        guard types.count <= Self.pathsMax else { return }
        switch schema {
        case .null, .boolean, .integer, .number, .string: break
        case .any: append(path.appending(substitution: "string"))
        case .array(let element): add(path.appending(substitution: "number"), element)
        case .keyed(let element, _), .dictionary(let element): add(path.appending(substitution: "string"), element)
        case .optional(let schema), .annotated(let schema, _): addBelow(path, schema)
        case .oneOf(let schemas), .anyOf(let schemas):
            for schema in schemas { addBelow(path, schema) }
        case .object(_, _, let fields):
            enter(schema.identity, path) { paths in
                for field in fields() { paths.add(path.appending(token: field.name), field.schema) }
            }
        case .named(_, _, let shape):
            enter(schema.identity, path) { $0.addBelow(path, shape()) }
        }
    }

    /// Lists the paths below a value, unless its type contains itself: such a type has infinitely many paths.
    private mutating func enter(
        _ identity: JSONSchema.Identity?,
        _ path: Path,
        _ list: (inout TypeScriptKeyPaths) -> Void
    ) {
        guard let identity else { return list(&self) }
        guard open.insert(identity).inserted else { return append(path.appending(substitution: "string")) }
        list(&self)
        open.remove(identity)
    }
}
