import RivuletJSON
import RivuletSessions

/// Schemas that the operations of all apps share.
enum OpenAPISchemas {
    private static let version = JSONSchema.integer(minimum: 0, maximum: Int128(UInt64.max))
    private static let time = JSONSchema.string(format: "date-time")
    private static let cursor = JSONSchema.annotated(
        .string(),
        [
            JSONSchema.Annotation(
                "description",
                "Where a reader stands: opaque, but for `epoch.version` at its start."
            ),
            JSONSchema.Annotation("examples", ["k3v9x0qa.7.b2-0"]),
        ]
    )

    private static let problemType = JSONSchema.annotated(
        .string(format: "uri-reference"),
        [
            JSONSchema.Annotation(
                "description",
                "The address of a page about the cause. `GET /problems` lists the pages. 429 has a registered type instead."
            ),
            JSONSchema.Annotation("examples", ["/problems/not-found"]),
        ]
    )

    /// RFC 9457, with the members that some statuses add.
    static let problem = record(
        "Problem",
        [
            ("type", problemType), ("title", .string()), ("status", .integer(minimum: 400, maximum: 599)),
            ("detail", .string()),
        ],
        optional: [
            ("errors", .array(record("Fault", [("pointer", .string()), ("detail", .string())]))),
            ("cursor", cursor), ("value", .any), ("oldest", version), ("trace_id", .string()),
        ]
    )

    static let health = record("", [("status", .constant("ok"))])
    static let readiness = record("", [("status", .constant("ready"))])
    static let apps = record("", [("apps", .array(record("", [("name", .string())])))])

    /// The description of an app: its schemas are JSON Schema documents of their own.
    static let app = record(
        "App",
        [
            ("name", .string()), ("sessions", .string(values: ["onDemand", "explicit"])), ("state", .dictionary(.any)),
            ("fields", .array(.dictionary(.any))), ("event", .dictionary(.any)), ("events", .array(.dictionary(.any))),
            ("bindings", .array(.dictionary(.any))), ("views", .array(.dictionary(.any))),
            ("stores", .array(.dictionary(.any))), ("values", .array(.dictionary(.any))),
            ("secrets", .array(.dictionary(.any))),
        ]
    )

    static let session = record(
        "Session",
        [
            ("app", .string()), ("id", .string()), ("epoch", .string()), ("version", version), ("created", time),
            ("updated", time), ("streams", .integer(minimum: 0)),
            ("retained", record("", [("from", version), ("to", version)])),
        ],
        optional: [("coerced", coerced)]
    )

    static let sessions = record(
        "SessionList",
        [
            (
                "sessions",
                .array(
                    record(
                        "SessionSummary",
                        [
                            ("id", .string()), ("epoch", .string()), ("version", version), ("created", time),
                            ("updated", time),
                        ]
                    )
                )
            )
        ],
        optional: [("next", .string())]
    )

    private static let coerced = JSONSchema.array(
        record("Coercion", [("path", .string()), ("from", .any), ("to", .any)])
    )

    private static let change = record(
        "Change",
        [("op", .string(values: ["add", "replace", "remove", "move"])), ("path", .string())],
        optional: [("index", .integer(minimum: 0)), ("value", .any)]
    )

    static let answer = record(
        "DispatchAnswer",
        [("version", version), ("cursor", cursor), ("durable", .boolean), ("changes", .array(change))],
        optional: [("coerced", coerced)]
    )

    /// One version of the log; its changes are as they are kept.
    static let logEntry = record(
        "LogEntry",
        [("version", version), ("time", time), ("event", .any), ("changes", .array(loggedChange))]
    )

    private static let loggedChange = record(
        "LoggedChange",
        [("op", .string(values: ["add", "replace", "remove", "move"])), ("path", .string())],
        optional: [("index", .integer(minimum: 0)), ("value", .any), ("transient", .boolean)]
    )

    /// How a stream ends, in the words of its operation.
    static let streamEnd =
        "Over HTTP/1.1 the body is chunked: `bye` and the last chunk end it, and without them it was cut off."

    /// The data of a stream's events, by their names.
    static let streamEvents: [(name: String, data: JSONSchema)] = [
        (
            "snapshot",
            record("StreamSnapshot", [("stream", .string()), ("version", version), ("values", .dictionary(.any))])
        ),
        ("change", record("StreamChange", [("version", version), ("changes", .array(change))])),
        (
            "reset",
            record(
                "StreamReset",
                [
                    ("version", version),
                    ("reason", .string(values: StreamEvent.ResetReason.allCases.map(\.rawValue))),
                    ("values", .dictionary(.any)),
                ],
                optional: [("stream", .string())]
            )
        ),
        (
            "bye",
            record(
                "StreamBye",
                [
                    (
                        "reason",
                        .string(values: ["deleted", "draining", "expired", "limit", "revoked", "slow", "unavailable"])
                    ),
                    ("reconnect", .boolean), ("after", .integer(minimum: 0)),
                ]
            )
        ),
    ]

    /// What a change of a store answers that is not about one item.
    static let storeOutcome = record(
        "StoreOutcome",
        [
            ("version", version), ("cursor", sharedCursor), ("inserted", .integer(minimum: 0)),
            ("replaced", .integer(minimum: 0)), ("removed", .integer(minimum: 0)),
        ]
    )

    private static let sharedCursor = JSONSchema.annotated(
        .string(),
        [JSONSchema.Annotation("examples", ["k3v9x0qa.7"])]
    )

    /// Whether there is a secret.
    static let secretPresence = record("SecretPresence", [("set", .boolean)], optional: [("readable", .boolean)])

    /// Some of a store's items.
    static func page(of items: JSONSchema) -> JSONSchema {
        record(
            "",
            [("version", version), ("items", .array(items))],
            optional: [("next", .string()), ("damaged", .integer(minimum: 1))]
        )
    }

    /// The data of the events of a store's stream, by their names.
    static func storeEvents(of item: JSONSchema) -> [(name: String, data: JSONSchema)] {
        let names = ["initialized", "loaded", "insert", "remove"]
        let items = ("items", JSONSchema.array(item))
        let removed = [("removed", JSONSchema.array(item)), ("removedAll", JSONSchema.boolean)]
        let reasons = JSONSchema.string(values: ["unknown-cursor", "history-gone", "epoch-changed"])
        return names.map { name in
            let optional = name == "insert" ? removed : [next]
            return (
                name, record("", [("version", version), ("operation", .constant(name)), items], optional: optional)
            )
        } + [("reset", record("", [("version", version), ("reason", reasons), items], optional: [next])), bye]
    }

    /// The data of the events of a value's stream, by their names.
    static func valueEvents(of value: JSONSchema) -> [(name: String, data: JSONSchema)] {
        [("change", record("", [("version", version), ("value", value)])), bye]
    }

    /// The identifier of the last item, where the list goes on that did not fit.
    private static let next = ("next", JSONSchema.string())

    private static var bye: (name: String, data: JSONSchema) { streamEvents[streamEvents.count - 1] }

    static let exampleAnswer: JSONValue = [
        "version": 7, "cursor": "k3v9x0qa.7.b2-0", "durable": true,
        "changes": [["op": "replace", "path": "/p/title", "value": "text"]],
    ]

    /// An object with these members and no others that are told; one without a title stands where it is used.
    private static func record(
        _ title: String,
        _ required: [(name: String, schema: JSONSchema)],
        optional: [(name: String, schema: JSONSchema)] = []
    ) -> JSONSchema {
        let fields =
            required.map { JSONSchema.Field(name: $0.name, schema: $0.schema) }
            + optional.map { JSONSchema.Field(name: $0.name, schema: $0.schema, isRequired: false) }
        return .object(title: title) { fields }
    }
}
