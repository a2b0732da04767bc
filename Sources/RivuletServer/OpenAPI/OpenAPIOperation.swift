import RivuletHTTP
import RivuletJSON

/// What one method of one resource takes and answers.
///
/// Source: <https://spec.openapis.org/oas/v3.1.1.html#operation-object>.
struct OpenAPIOperation {
    /// What any request can be refused with, before its resource is looked at.
    private static let commonProblems = [400, 403, 408, 413, 414, 417, 421, 431, 501, 505]

    let method: HTTPMethod
    /// Unique in the document.
    let id: String
    let summary: String
    var description: String?
    var parameters: [JSONValue] = []
    var body: JSONValue?
    let responses: [(status: Int, value: JSONValue)]
    /// Statuses of problem documents besides those that every operation has.
    var problems: [Int] = []

    /// The operation object.
    func json(tag: String) -> JSONValue {
        let refusals = (problems + Self.commonProblems).map { status in
            (status: status, value: JSONValue.reference(to: "responses", OpenAPIProblem.name(of: status)))
        }
        return .members([
            ("operationId", .string(id)), ("tags", [.string(tag)]), ("summary", .string(summary)),
            ("description", description.map(JSONValue.string)),
            ("parameters", parameters.isEmpty ? nil : .array(parameters)), ("requestBody", body),
            (
                "responses",
                .members((responses + refusals).sorted { $0.status < $1.status }.map { ("\($0.status)", $0.value) })
            ),
        ])
    }
}

extension JSONValue {
    /// An object of the members that have a value.
    static func members(_ members: [(name: String, value: JSONValue?)]) -> JSONValue {
        .object(members.compactMap { member in member.value.map { Member(name: member.name, value: $0) } })
    }

    /// A reference to one of the document's components.
    static func reference(to kind: String, _ name: String) -> JSONValue {
        ["$ref": .string("#/components/\(kind)/\(name)")]
    }

    /// A response object, or a request's body; `headers` are names of header components.
    static func content(
        _ description: String,
        _ types: [(name: String, value: JSONValue?)],
        headers: [String] = [],
        isRequired: Bool? = nil
    ) -> JSONValue {
        .members([
            ("description", .string(description)), ("required", isRequired.map(JSONValue.bool)),
            (
                "headers",
                headers.isEmpty ? nil : .members(headers.map { ($0, .reference(to: "headers", $0)) })
            ),
            ("content", types.isEmpty ? nil : .members(types)),
        ])
    }

    /// What a media type's content is like.
    static func media(_ schema: JSONValue, example: JSONValue? = nil, examples: JSONValue? = nil) -> JSONValue {
        .members([("schema", schema), ("example", example), ("examples", examples)])
    }

    /// A parameter object.
    static func parameter(
        _ name: String,
        in place: String,
        _ description: String,
        _ schema: JSONValue,
        isRequired: Bool = false
    ) -> JSONValue {
        .members([
            ("name", .string(name)), ("in", .string(place)), ("description", .string(description)),
            ("required", isRequired ? true : nil), ("schema", schema),
        ])
    }
}
