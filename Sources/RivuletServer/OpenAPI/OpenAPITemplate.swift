import RivuletHTTP
import RivuletJSON

/// The document's template, `openapi.json` beside this file, and the names and values that a server fills into it.
///
/// The rules of the template:
/// - In a text, `{name}` is replaced by the entry of ``names`` with that name, if it exists. For example, `{app}`
///   becomes the app's name.
/// - `{"$insert": "name"}` is replaced by the ``Value`` or the part with that name. It is left out if the value is not
///   set, for example the default of a field that has no default. Any other name is an error. An array that is inserted
///   into another array adds its elements to it.
/// - Parts are the members of the template's `parts`, and the examples of problems.
/// - A text in `parameters` or in an array of `headers` is the name of a component.
/// - `problems` of an operation are the statuses of its refusals, besides the statuses that every operation has.
struct OpenAPITemplate {
    /// The statuses with which every request can be refused before its resource is found.
    private static let commonProblems: Set = [400, 401, 403, 408, 413, 414, 417, 421, 429, 431, 501, 505]
    private static let traceParent = reference(to: "parameters", "traceparent")

    /// The values that Swift code gives for the names in `$insert`.
    enum Value: String, CaseIterable {
        // Values of the server.
        case tags
        case apps
        case pathsMax = "paths at most"
        case intervalMin = "shortest interval"
        case intervalMax = "longest interval"
        case formats
        case resumptions
        case streamStates = "stream states"
        case byeReasons = "bye reasons"
        case resetReasons = "reset reasons"
        case sharedResetReasons = "shared reset reasons"
        case problemTypes = "problem types"
        case securitySchemes = "security schemes"
        // Values of an app.
        case eventExamples = "event examples"
        case eventLines = "event lines"
        case views
        case view
        case viewName = "view name"
        // Values of a path.
        case elements
        case written
        case accepted
        case defaultValue = "default"
        case example
    }

    /// The texts that replace names in braces.
    var names: [String: String] = [:]
    var values: [Value: JSONValue] = [:]
    /// True if operations name the credential that they need.
    private var isSecured: Bool { values[.securitySchemes] != nil }
    private let root: JSONValue
    private let parts: [String: JSONValue]

    /// Reads a template.
    ///
    /// - Parameters:
    ///   - text: The template's bytes.
    ///   - parts: Parts besides those of the template itself.
    /// - Throws: `ServerError` when the text is no JSON, or inserts a name that is neither a ``Value`` nor a part.
    init(_ text: [UInt8], parts: [JSONValue.Member]) throws(ServerError) {
        do throws(JSONError) {
            root = try JSONValue(parsing: text)
        } catch {
            throw ServerError("openapi.json is no JSON: \(error)")
        }
        let parts = parts + (root["parts"]?.members ?? [])
        self.parts = Dictionary(parts.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        let unknown = Self.insertions(in: root).subtracting(Value.allCases.map(\.rawValue)).subtracting(self.parts.keys)
        guard unknown.isEmpty else {
            throw ServerError(
                "openapi.json inserts \(unknown.sorted().map { "\"\($0)\"" }.joined(separator: ", ")), which is no value and no part; "
                    + "correct the name, or add it to OpenAPITemplate.Value or to `parts`"
            )
        }
    }

    /// All names in `$insert`, at any depth.
    static func insertions(in value: JSONValue) -> Set<String> {
        if let name = value["$insert"] { return [name.stringValue ?? name.description] }
        let below = (value.members?.map(\.value) ?? []) + (value.elements ?? [])
        return below.reduce(into: []) { $0.formUnion(insertions(in: $1)) }
    }

    /// The whole document with these paths; these schemas come before the template's own schemas.
    func document(paths: [JSONValue.Member], schemas: [JSONValue.Member]) -> JSONValue {
        .object(
            (root.members ?? []).compactMap { member in
                switch member.name {
                case "parts": return nil
                case "paths": return JSONValue.Member(name: member.name, value: .object(paths))
                case "components":
                    let components = (expanded(member.value)?.members ?? []).map { component in
                        guard component.name == "schemas" else { return component }
                        return JSONValue.Member(
                            name: "schemas",
                            value: .object(schemas + (component.value.members ?? []))
                        )
                    }
                    return JSONValue.Member(name: member.name, value: .object(components))
                default: return expanded(member.value).map { JSONValue.Member(name: member.name, value: $0) }
                }
            }
        )
    }

    /// The path of a resource with its operations, except the method `without`.
    func path(of resource: Resource, tag: String, without method: String? = nil) -> JSONValue.Member {
        let item = expanded(root["paths"]?[resource.path] ?? [:])?.members ?? []
        let operations = item.filter { $0.name != "parameters" && $0.name != method }.map { member in
            let security = isSecured ? Self.security(of: resource, HTTPMethod(member.name.uppercased())) : []
            return JSONValue.Member(
                name: member.name,
                value: Self.operation(member.value, tag: tag, security)
            )
        }
        let parameters = (item.first { $0.name == "parameters" }?.value.elements ?? []) + [Self.traceParent]
        return JSONValue.Member(
            name: named(resource.path),
            value: .object([JSONValue.Member(name: "parameters", value: .array(parameters))] + operations)
        )
    }

    /// An operation with its tag and the responses of its problems.
    private static func operation(
        _ operation: JSONValue,
        tag: String,
        _ security: [JSONValue.Member]
    ) -> JSONValue {
        let problems = (operation["problems"]?.elements ?? []).compactMap(\.integerValue)
        let refusals = commonProblems.union(problems).sorted().map { status in
            JSONValue.Member(name: "\(status)", value: reference(to: "responses", "Problem\(status)"))
        }
        let responses = ((operation["responses"]?.members ?? []) + refusals).sorted { $0.name < $1.name }
        let members = (operation.members ?? []).filter { $0.name != "problems" && $0.name != "responses" }
        let tags = JSONValue.Member(name: "tags", value: [.string(tag)])
        let answers = JSONValue.Member(name: "responses", value: .object(responses))
        return .object(members + [tags] + security + [answers])
    }

    /// The member `security` of an operation: the ways to send its credential, none of them for a public operation.
    private static func security(of resource: Resource, _ method: HTTPMethod) -> [JSONValue.Member] {
        let schemes = resource.credentialSchemes(for: method).map { scheme in
            JSONValue.object([JSONValue.Member(name: scheme.rawValue, value: [])])
        }
        return [JSONValue.Member(name: "security", value: .array(schemes))]
    }

    static func reference(to kind: String, _ name: String) -> JSONValue {
        ["$ref": .string("#/components/\(kind)/\(name)")]
    }

    // MARK: - Filling in

    /// A copy of the value with names and insertions filled in; nil if it inserts a ``Value`` that is not set.
    private func expanded(_ value: JSONValue) -> JSONValue? {
        switch value {
        case .string(let text): return .string(named(text))
        case .array(let elements): return .array(elements.flatMap(spliced))
        case .object(let members):
            if let name = value["$insert"]?.stringValue { return inserted(name) }
            return .object(
                members.compactMap { member in
                    let value = Self.resolved(member.value, of: member.name)
                    return expanded(value).map { JSONValue.Member(name: member.name, value: $0) }
                }
            )
        case .null, .bool, .number: return value
        }
    }

    private func inserted(_ name: String) -> JSONValue? {
        if let value = Value(rawValue: name) { return values[value] }
        return parts[name].flatMap(expanded)
    }

    private func spliced(_ element: JSONValue) -> [JSONValue] {
        guard let value = expanded(element) else { return [] }
        return element.members == nil ? [value] : value.elements ?? [value]
    }

    /// Replaces names of components by references.
    private static func resolved(_ value: JSONValue, of name: String) -> JSONValue {
        guard let elements = value.elements else { return value }
        switch name {
        case "parameters":
            return .array(elements.map { $0.stringValue.map { reference(to: name, $0) } ?? $0 })
        case "headers":
            let names = elements.compactMap(\.stringValue)
            return .object(names.map { JSONValue.Member(name: $0, value: reference(to: name, $0)) })
        default: return value
        }
    }

    private func named(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
        return names.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
    }
}
