// Owns what the OpenAPI document says of a session's view objects.

import RivuletHTTP
import RivuletJSON
import RivuletSessions

extension OpenAPIApp {
    /// The name of a view in a path.
    var viewParameter: JSONValue {
        let names = shape.views.map { JSONValue.string($0.name) }
        let known: JSONValue? = names.isEmpty ? nil : .array(names)
        return .parameter(
            "view",
            in: "path",
            names.isEmpty ? "A view's name; this app has none." : "The view's name.",
            .members([("type", "string"), ("enum", known)]),
            isRequired: true
        )
    }

    /// All view objects by their names.
    mutating func views(_ shared: inout JSONSchemaDefinitions) -> [OpenAPIOperation] {
        let views = shape.views.map { ($0.name, type(of: $0.schema)) }
        let schema: JSONValue = ["type": "object", "properties": .members(views.map { ($0, $1) })]
        return [reading("readViews", "The view objects of the session, by their names.", schema)]
    }

    /// One view object.
    mutating func view(_ shared: inout JSONSchemaDefinitions) -> [OpenAPIOperation] {
        let schemas = shape.views.map { type(of: $0.schema) }
        let schema: JSONValue = schemas.isEmpty ? ["type": "object"] : ["anyOf": .array(schemas)]
        return [reading("readView", "One view object of the session.", schema)]
    }

    func viewChanges(_ shared: inout JSONSchemaDefinitions) -> [OpenAPIOperation] {
        [stream("streamViewChanges", "Streams what changes at key paths of a view.", &shared)]
    }

    private func reading(_ id: String, _ summary: String, _ schema: JSONValue) -> OpenAPIOperation {
        OpenAPIOperation(
            method: .get,
            id: "\(name).\(id)",
            summary: summary,
            parameters: [OpenAPIParameters.ifNoneMatch],
            responses: [
                (
                    200,
                    .content(
                        "The value.",
                        [("application/json", .media(schema))],
                        headers: ["ETag", "Rivulet-Version"]
                    )
                ),
                (304, OpenAPIParameters.notModified),
            ],
            problems: [404, 409, 500, 503]
        )
    }
}
