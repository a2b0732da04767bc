import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// References to shared parameters and headers, and the components that they refer to.
enum OpenAPIParameters {
    static let session = reference("session")
    static let strict = reference("strict")
    static let ifMatch = reference("If-Match")
    static let ifNoneMatch = reference("If-None-Match")
    static let idempotencyKey = reference("Idempotency-Key")
    static let prefer = reference("Prefer")
    static let lastEventID = reference("Last-Event-ID")
    static let traceParent = reference("traceparent")

    /// What a dispatch takes besides its body.
    static let dispatch = [strict, ifMatch, idempotencyKey, prefer]

    /// How many entries an answer has at most.
    static func limit(_ description: String) -> JSONValue {
        .parameter(
            "limit",
            in: "query",
            description,
            ["type": "integer", "minimum": 1, "maximum": 1_000, "default": 100]
        )
    }

    /// What a change stream watches.
    static func paths(atMost count: Int) -> JSONValue {
        .parameter(
            "path",
            in: "query",
            "Key paths to watch, as JSON Pointers; none is the whole. A token `*` stands for any one token.",
            ["type": "array", "items": ["type": "string"], "maxItems": .number("\(count)")]
        )
    }

    /// How a change stream writes its changes.
    static let format = JSONValue.parameter(
        "format",
        in: "query",
        "With `json-patch` the data of a `change` is an RFC 6902 array against the document at the one path, which has no `*`; "
            + "a document that is not there is null.",
        ["type": "string", "enum": .array(StreamFormat.allCases.map { .string($0.rawValue) }), "default": "changes"]
    )

    /// How often a change stream has a `change` at most.
    static let interval = JSONValue.parameter(
        "interval",
        in: "query",
        "The least milliseconds from one `change` to the next, which has what came meanwhile, merged.",
        [
            "type": "integer", "minimum": .number("\(ServerLoop.intervalRange.lowerBound)"),
            "maximum": .number("\(ServerLoop.intervalRange.upperBound)"),
        ]
    )

    /// How a change stream tells what its reader missed.
    static let resume = JSONValue.parameter(
        "resume",
        in: "query",
        "With `all`, every version that was missed is a `change` of its own; it goes with no `interval` and no other `format`.",
        ["type": "string", "enum": .array(StreamResumption.allCases.map { .string($0.rawValue) }), "default": "merged"]
    )

    static let notModified = JSONValue.content("It is what the client has.", [], headers: ["ETag"])

    /// The parameter components.
    static let components = JSONValue.members([
        (
            "session",
            .parameter(
                "session",
                in: "path",
                "The session's id. `me` is the caller's own session, by the signed cookie `rivulet-session`, "
                    + "which a caller without one is given.",
                ["type": "string", "pattern": "^[A-Za-z0-9_-]{1,128}$"],
                isRequired: true
            )
        ),
        (
            "strict",
            .parameter(
                "strict",
                in: "query",
                "With 1, what a wrapper would coerce is 422 instead, and nothing changes.",
                ["type": "string", "enum": ["0", "1", "false", "true"], "default": "0"]
            )
        ),
        (
            "If-Match",
            .parameter(
                "If-Match",
                in: "header",
                "Cursors in quotes, as `ETag` has them, or `\"epoch.version\"`; 412 when the session stands at none of them.",
                ["type": "string", "pattern": "^(\\*|\"[A-Za-z0-9._-]+\"(, \"[A-Za-z0-9._-]+\")*)$"]
            )
        ),
        (
            "If-None-Match",
            .parameter(
                "If-None-Match",
                in: "header",
                "Tags that the client has; 304 for one of them.",
                ["type": "string"]
            )
        ),
        (
            "Idempotency-Key",
            .parameter(
                "Idempotency-Key",
                in: "header",
                "A string in quotes, of 1 to \(HTTPIdempotencyKey.bytesMax) printable ASCII characters. "
                    + "A retry gets the first answer again.",
                [
                    "type": "string", "pattern": .string("^\"[ !#-\\[\\]-~]{1,\(HTTPIdempotencyKey.bytesMax)}\"$"),
                    "examples": ["\"8e03978e-40d5\""],
                ]
            )
        ),
        (
            "traceparent",
            .parameter(
                "traceparent",
                in: "header",
                "The W3C trace context that the request is a part of. The answer has a `traceparent` of the same trace, and so have problems "
                    + "(`trace_id`) and log lines. An invalid `traceparent` is ignored.",
                ["type": "string", "examples": ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"]]
            )
        ),
        (
            "Prefer",
            .parameter(
                "Prefer",
                in: "header",
                "With `return=minimal` the answer has no body.",
                ["type": "string", "examples": ["return=minimal"]]
            )
        ),
        (
            "Last-Event-ID",
            .parameter(
                "Last-Event-ID",
                in: "header",
                "The cursor to go on from; wins over `cursor`.",
                ["type": "string"]
            )
        ),
    ])

    /// The components of response headers.
    static let headers: JSONValue = [
        "ETag": header(
            "Of a session: the cursor, in quotes; with `version`, `\"epoch.version-hash\"`. Of a file: a tag of its bytes."
        ),
        "Rivulet-Version": header("The version of the session's durable history.", type: "integer"),
        "Location": header("The path of the new session."),
        "Link": header("With `rel=\"next\"`, where the list goes on; with `rel=\"edit\"`, the stream under its name."),
        "Preference-Applied": header("`return=minimal`, where that was asked for."),
        "Idempotency-Replayed": header("`true` on an answer that was given before; nothing was done anew."),
        "Retry-After": header("Seconds after which it is worth trying again.", type: "integer"),
    ]

    private static func reference(_ name: String) -> JSONValue { .reference(to: "parameters", name) }

    private static func header(_ description: String, type: String = "string") -> JSONValue {
        ["description": .string(description), "schema": ["type": .string(type)]]
    }
}
