// Owns what the OpenAPI document says of open streams.

import RivuletHTTP
import RivuletJSON

extension OpenAPIDocument {
    static var streamParameter: JSONValue {
        .parameter(
            "stream",
            in: "path",
            "The stream's name: `stream` in its snapshot.",
            ["type": "string"],
            isRequired: true
        )
    }

    /// Everything that is known of one stream.
    private static var stream: JSONValue {
        let text: JSONValue = ["type": "string"]
        return [
            "type": "object",
            "required": ["stream", "app", "opened", "state", "unsent", "gzip"],
            "properties": [
                "stream": text, "app": text, "session": text, "view": text, "store": text, "value": text,
                "paths": ["type": "array", "items": text],
                "format": ["enum": ["changes", "json-patch"]],
                "interval": ["type": "integer"],
                "opened": ["type": "string", "format": "date-time"],
                "state": ["enum": ["live", "blocked", "behind", "asking", "waiting", "closing"]],
                "unsent": ["type": "integer"],
                "gzip": ["type": "boolean"],
            ],
        ]
    }

    func streamList() -> [OpenAPIOperation] {
        let page: JSONValue = [
            "type": "object",
            "required": ["streams"],
            "properties": [
                "streams": ["type": "array", "items": Self.stream],
                "next": ["type": "string"],
            ],
        ]
        let after = JSONValue.parameter(
            "after",
            in: "query",
            "Only streams after this one: `next` of the page before.",
            ["type": "string"]
        )
        return [
            OpenAPIOperation(
                method: .get,
                id: "listStreams",
                summary: "All open streams, for operators.",
                parameters: [after, OpenAPIParameters.limit("The most streams of the page.")],
                responses: [
                    (200, .content("A page; `next` when there is more.", [("application/json", .media(page))]))
                ]
            )
        ]
    }

    func oneStream() -> [OpenAPIOperation] {
        let paths: JSONValue = ["type": "array", "items": ["type": "string"], "maxItems": 64]
        let wish: JSONValue = [
            "type": "object", "required": ["paths"], "properties": ["paths": paths], "additionalProperties": false,
        ]
        let answer: JSONValue = [
            "type": "object", "required": ["stream", "paths"],
            "properties": ["stream": ["type": "string"], "paths": paths],
        ]
        return [
            OpenAPIOperation(
                method: .get,
                id: "readStream",
                summary: "One open stream, for operators.",
                responses: [(200, .content("The stream.", [("application/json", .media(Self.stream))]))],
                problems: [404]
            ),
            OpenAPIOperation(
                method: .patch,
                id: "changeStream",
                summary: "Gives an open stream other key paths.",
                description: "The stream's next event is a `snapshot` of the new paths; no path means the whole.",
                body: .content("What it is to watch.", [("application/json", .media(wish))], isRequired: true),
                responses: [
                    (200, .content("The snapshot follows in the stream.", [("application/json", .media(answer))]))
                ],
                problems: [404, 409, 415, 422, 503]
            ),
            OpenAPIOperation(
                method: .delete,
                id: "endStream",
                summary: "Ends an open stream; its client is told not to come back.",
                responses: [(204, .content("It got `bye`.", []))],
                problems: [404]
            ),
        ]
    }
}
