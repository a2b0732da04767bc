import RivuletJSON
import RivuletObservation
import RivuletSchema

/// Finds stored values at key paths that the shape of a state does not have.
///
/// A load of the state would drop these values silently.
struct IgnoredPaths {
    /// The key paths that were found; a token `*` stands for any element of a collection.
    private(set) var paths: Set<String> = []
    private let schema: JSONSchema

    /// Begins with nothing found.
    init(_ schema: JSONSchema) {
        self.schema = schema
    }

    /// Compares a whole document.
    mutating func look(at document: JSONValue) {
        look(at: [document], schema, [])
    }

    /// Compares a snapshot and the changes after it; values that a later change removed are found too.
    ///
    /// The comparison ends at data that does not decode, because the restoration reports such data.
    mutating func look(at stored: StoredSession) {
        do throws(JSONError) {
            if let snapshot = stored.snapshot { look(at: try JSONValue(parsing: snapshot.state)) }
            for entry in stored.tail {
                for change in try [StateChange](logJSON: entry.changes) where !change.isTransient {
                    let value: JSONValue? =
                        if let bytes = change.value { try JSONValue(parsing: bytes) } else { nil }
                    follow(try JSONPointer(parsing: change.path).tokens[...], to: value, schema, [])
                }
            }
        } catch {
            return
        }
    }

    private mutating func found(_ path: [String], _ token: String) {
        paths.insert(JSONPointer(tokens: path + [token]).description)
    }

    // MARK: - Values

    /// Compares all values at one key path.
    private mutating func look(at values: [JSONValue], _ schema: JSONSchema, _ path: [String]) {
        guard !values.isEmpty else { return }
        switch schema {
        case .any, .null, .boolean, .integer, .number, .string: return
        case .annotated(let schema, _): look(at: values, schema, path)
        case .named(_, _, let shape): look(at: values, shape(), path)
        case .optional(let schema): look(at: values.filter { $0 != .null }, schema, path)
        case .array(let element), .keyed(let element, _):
            look(at: values.flatMap { $0.elements ?? [] }, element, path + ["*"])
        case .dictionary(let element):
            look(at: values.flatMap { $0.members?.map(\.value) ?? [] }, element, path + ["*"])
        case .object(_, _, let fields): look(at: values, fields(), path)
        case .oneOf(let schemas), .anyOf(let schemas):
            for value in values { paths.formUnion(Self.least(of: schemas, for: value, path)) }
        }
    }

    private mutating func look(at values: [JSONValue], _ fields: [JSONSchema.Field], _ path: [String]) {
        let members = Dictionary(grouping: values.flatMap { $0.members ?? [] }, by: \.name)
        for (name, members) in members {
            guard let field = fields.first(where: { $0.name == name }) else {
                found(path, name)
                continue
            }
            look(at: members.map(\.value), field.schema, path + [name])
        }
    }

    /// Returns the paths that are ignored by the shape that fits the value best.
    ///
    /// That shape ignores the fewest keys of the value itself. Among several such shapes, the best one ignores the
    /// fewest paths in total.
    private static func least(of schemas: [JSONSchema], for value: JSONValue, _ path: [String]) -> Set<String> {
        let tries = schemas.filter { $0.kinds.contains(value.kind) }.map { schema in
            var one = IgnoredPaths(schema)
            one.look(at: [value], schema, path)
            return one.paths
        }
        let own = JSONPointer(tokens: path).description.utf8.count
        func rank(_ paths: Set<String>) -> (Int, Int) {
            (paths.count { !$0.utf8.dropFirst(own + 1).contains(UInt8(ascii: "/")) }, paths.count)
        }
        return tries.min { rank($0) < rank($1) } ?? []
    }

    // MARK: - Changes

    /// Follows a key path through the fields of the shape, and compares the value at its end.
    private mutating func follow(
        _ tokens: ArraySlice<String>,
        to value: JSONValue?,
        _ schema: JSONSchema,
        _ path: [String]
    ) {
        guard let token = tokens.first else { return look(at: [value].compactMap(\.self), schema, path) }
        let rest = tokens.dropFirst()
        switch schema {
        case .any: return
        case .null, .boolean, .integer, .number, .string: found(path, token)
        case .annotated(let schema, _), .optional(let schema): follow(tokens, to: value, schema, path)
        case .named(_, _, let shape): follow(tokens, to: value, shape(), path)
        case .array(let element), .keyed(let element, _), .dictionary(let element):
            follow(rest, to: value, element, path + ["*"])
        case .object(_, _, let fields):
            guard let field = fields().first(where: { $0.name == token }) else { return found(path, token) }
            follow(rest, to: value, field.schema, path + [token])
        case .oneOf(let schemas), .anyOf(let schemas):
            let depth = schemas.lazy.map { $0.depth(of: tokens) }.max() ?? 0
            guard let schema = schemas.first(where: { $0.depth(of: tokens) == depth }), depth > 0 else {
                return found(path, token)
            }
            follow(tokens, to: value, schema, path)
        }
    }
}

extension JSONSchema {
    /// Returns the number of leading tokens that a value of this shape can have.
    fileprivate func depth(of tokens: ArraySlice<String>) -> Int {
        tokens.indices.reversed().first { accepts(path: tokens[...$0], checksIDs: false) }
            .map { $0 - tokens.startIndex + 1 } ?? 0
    }
}

extension JSONValue {
    fileprivate var kind: JSONKind {
        switch self {
        case .null: .null
        case .bool: .bool
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }
}
