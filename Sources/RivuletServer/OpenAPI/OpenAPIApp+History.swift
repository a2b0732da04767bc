// Owns what the OpenAPI document says of a session's past: its log, and going back.

import RivuletHTTP
import RivuletJSON

extension OpenAPIApp {
    /// What going back can be refused with.
    private static let problems = [404, 409, 410, 412, 415, 422, 429, 500, 503, 507]

    /// A version as a query parameter.
    static func version(_ description: String, isRequired: Bool = false) -> JSONValue {
        .parameter("version", in: "query", description, ["type": "integer", "minimum": 0], isRequired: isRequired)
    }

    /// GET of the log.
    func log(_ shared: inout JSONSchemaDefinitions) -> OpenAPIOperation {
        let entry = shared.value(of: OpenAPISchemas.logEntry)
        let lines = JSONValue.media([
            "type": "string", "description": "A line each: #/components/schemas/LogEntry.",
        ])
        return OpenAPIOperation(
            method: .get,
            id: "\(name).readLog",
            summary: "The log of the session: what happened, version by version.",
            parameters: [
                .parameter(
                    "after",
                    in: "query",
                    "Only versions after this one; from the beginning of the log without it.",
                    ["type": "integer", "minimum": 0]
                ),
                OpenAPIParameters.limit("The most versions of the answer."),
            ],
            responses: [
                (
                    200,
                    .content(
                        "A part of the log; `Link` when there is more.",
                        [
                            ("application/json", .media(["type": "array", "items": entry])),
                            (EventLines.contentType, lines),
                        ],
                        headers: ["Rivulet-Version", "Link"]
                    )
                )
            ],
            problems: [404, 406, 409, 410, 500, 503]
        )
    }

    func reset(_ shared: inout JSONSchemaDefinitions) -> [OpenAPIOperation] {
        [back("resetSession", "Puts the whole state back to its defaults.", [], &shared)]
    }

    func restore(_ shared: inout JSONSchemaDefinitions) -> [OpenAPIOperation] {
        let version = Self.version("The version whose stored state is put back.", isRequired: true)
        return [back("restoreSession", "Makes a new version of what is stored of an earlier one.", [version], &shared)]
    }

    private func back(
        _ id: String,
        _ summary: String,
        _ parameters: [JSONValue],
        _ shared: inout JSONSchemaDefinitions
    ) -> OpenAPIOperation {
        OpenAPIOperation(
            method: .post,
            id: "\(name).\(id)",
            summary: summary,
            parameters: parameters + OpenAPIParameters.dispatch,
            responses: Self.dispatched(&shared),
            problems: Self.problems
        )
    }

    func fork(_ shared: inout JSONSchemaDefinitions) -> [OpenAPIOperation] {
        let properties: JSONValue = ["id": ["type": "string", "pattern": "^[A-Za-z0-9_-]{1,128}$"]]
        let schema: JSONValue = ["type": "object", "properties": properties, "additionalProperties": false]
        return [
            OpenAPIOperation(
                method: .post,
                id: "\(name).forkSession",
                summary: "Makes another session that begins with a version of this one.",
                parameters: [Self.version("The version; the newest one without it."), OpenAPIParameters.strict],
                body: .content(
                    "The new session's id; a fresh unguessable one without it.",
                    [("application/json", .media(schema, example: ["id": "b"]))]
                ),
                responses: [(201, info("It is there.", &shared, headers: ["Location"]))],
                problems: Self.problems
            )
        ]
    }
}
