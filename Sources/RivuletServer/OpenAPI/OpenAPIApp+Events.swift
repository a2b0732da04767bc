// Owns what the OpenAPI document says of an app's events and change streams.

import RivuletHTTP
import RivuletJSON
import RivuletObservation
import RivuletSessions

extension OpenAPIApp {
    /// What a dispatch can be refused with.
    static let dispatchProblems = [404, 409, 412, 415, 422, 429, 500, 503, 507]

    /// What answers a dispatch; `lines` are answers to lines.
    static func dispatched(
        _ shared: inout JSONSchemaDefinitions,
        lines: JSONValue? = nil
    ) -> [(status: Int, value: JSONValue)] {
        let media = JSONValue.media(shared.value(of: OpenAPISchemas.answer), example: OpenAPISchemas.exampleAnswer)
        let types = [("application/json", media), (EventLines.contentType, lines)]
        let headers = ["ETag", "Rivulet-Version", "Idempotency-Replayed"]
        return [
            (200, .content("What has changed.", types, headers: headers)),
            (204, .content("Done; the answer was to be minimal.", [], headers: headers + ["Preference-Applied"])),
        ]
    }

    func events(_ shared: inout JSONSchemaDefinitions) -> [OpenAPIOperation] {
        let event = root("Event")
        let schema: JSONValue = ["anyOf": [event, ["type": "array", "items": event]]]
        let examples = shape.events.compactMap { event in event.schema.example.map { (event.name, $0) } }
        let json = JSONValue.media(schema, examples: .members(examples.map { ($0, ["value": $1]) }))
        let lines = JSONValue.media(
            ["type": "string", "description": "A line each: an event, or an array of events."],
            example: .string(examples.prefix(2).map { "\($0.1)\n" }.joined())
        )
        let answers = JSONValue.media(
            [
                "type": "string",
                "description": "A line each: #/components/schemas/DispatchAnswer, or a problem document.",
            ],
            example: .string("\(OpenAPISchemas.exampleAnswer)\n")
        )
        return [
            OpenAPIOperation(
                method: .post,
                id: "\(name).dispatchEvents",
                summary: "Dispatches one event, an array as one transaction, or lines that are a transaction each.",
                parameters: OpenAPIParameters.dispatch,
                body: .content(
                    "The event or events.",
                    [("application/json", json), (EventLines.contentType, lines)],
                    isRequired: true
                ),
                responses: Self.dispatched(&shared, lines: answers),
                problems: Self.dispatchProblems
            )
        ]
    }

    func changes(_ shared: inout JSONSchemaDefinitions) -> [OpenAPIOperation] {
        [stream("streamChanges", "Streams what changes at key paths of the state.", &shared)]
    }

    /// A change stream, of the state or of a view.
    func stream(_ id: String, _ summary: String, _ shared: inout JSONSchemaDefinitions) -> OpenAPIOperation {
        let events = OpenAPISchemas.streamEvents.map { event -> (name: String, value: JSONValue?) in
            (event.name, shared.value(of: event.data))
        }
        let stream = JSONValue.members([
            ("schema", ["type": "string"]),
            ("example", .string(Self.exampleStream)),
            // The data of each event, which OpenAPI 3.1 has no keyword for.
            ("x-rivulet-events", .members(events)),
        ])
        return OpenAPIOperation(
            method: .get,
            id: "\(name).\(id)",
            summary: summary,
            description: "Server-sent events; `id` is the cursor at which the reader then stands. "
                + "\(OpenAPISchemas.streamEnd) A stream that cannot be served for want of room is a 200 that only says `bye`.",
            parameters: [
                OpenAPIParameters.paths(atMost: options.sessionLimits.pathsPerStreamMax), OpenAPIParameters.format,
                OpenAPIParameters.interval, OpenAPIParameters.resume,
                .parameter("cursor", in: "query", "The cursor to go on from.", ["type": "string"]),
                OpenAPIParameters.lastEventID,
            ],
            responses: [
                (200, .content("The stream.", [("text/event-stream", stream)], headers: ["Link"])),
                (204, .content("The session was deleted; do not come back.", [])),
            ],
            problems: [404, 406, 409, 500, 503]
        )
    }

    private static let exampleStream = """
        event: snapshot
        id: k3v9x0qa.7.b2-0
        data: {"stream":"0-2-1-2yb3k9w0xq1v","version":7,"values":{"/p/title":"text"}}

        event: change
        id: k3v9x0qa.8.b2-0
        data: {"version":8,"changes":[{"op":"replace","path":"/p/title","value":"other"}]}


        """
}
