// Owns what the OpenAPI document says of an app's stores, values and secrets.

import RivuletHTTP
import RivuletJSON
import RivuletSessions
import RivuletStores

extension OpenAPIApp {
    private static let changeProblems = [404, 412, 413, 415, 422, 500, 503, 507]
    private static let headers = ["ETag", "Rivulet-Version"]

    /// A path for each store, value or secret that has the resource, so that each has its type.
    mutating func sharedPaths(of resource: Resource, _ shared: inout JSONSchemaDefinitions) -> [JSONValue.Member] {
        var paths: [JSONValue.Member] = []
        switch resource {
        case .store: for store in shape.shared.stores { add(resource, store.name, list(store, &shared), to: &paths) }
        case .item: for store in shape.shared.stores { add(resource, store.name, item(store), to: &paths) }
        case .operations:
            for store in shape.shared.stores { add(resource, store.name, operations(store, &shared), to: &paths) }
        case .storeEvents: for store in shape.shared.stores { add(resource, store.name, [events(store)], to: &paths) }
        case .value: for value in shape.shared.values { add(resource, value.name, operations(value), to: &paths) }
        case .toggle:
            for value in shape.shared.values where value.host.isBool {
                add(resource, value.name, [toggle(value)], to: &paths)
            }
        case .valueChanges: for value in shape.shared.values { add(resource, value.name, [changes(value)], to: &paths) }
        case .secret:
            for secret in shape.shared.secrets { add(resource, secret.name, operations(secret, &shared), to: &paths) }
        default: break
        }
        return paths
    }

    private func add(
        _ resource: Resource,
        _ name: String,
        _ operations: [OpenAPIOperation],
        to paths: inout [JSONValue.Member]
    ) {
        let path = ["{store}", "{value}", "{secret}"].reduce(path(of: resource)) { $0.replacing($1, with: name) }
        let parameters = resource == .item ? [Self.itemParameter] : []
        let item = OpenAPIDocument.pathItem(operations, tag: self.name, parameters: parameters)
        paths.append(JSONValue.Member(name: path, value: item))
    }

    private static let itemParameter = JSONValue.parameter(
        "item",
        in: "path",
        "The item's identifier, percent-encoded.",
        ["type": "string", "minLength": 1],
        isRequired: true
    )

    private static let itemConditions = [
        JSONValue.parameter(
            "If-Match",
            in: "header",
            "Tags in quotes, as `ETag` has them, or `*`; 412 when the item has none of them.",
            ["type": "string", "examples": ["*"]]
        ),
        JSONValue.parameter(
            "If-None-Match",
            in: "header",
            "`*`: 412 when there is such an item; tags: 412 when it has one of them.",
            ["type": "string", "examples": ["*"]]
        ),
    ]

    private static let versionCondition = JSONValue.parameter(
        "If-Match",
        in: "header",
        "Cursors in quotes, as `ETag` has them; 412 when it stands at none of them.",
        ["type": "string", "examples": ["*"]]
    )

    private static let prefer = OpenAPIParameters.prefer

    private static func media(_ schema: JSONValue, _ example: JSONValue? = nil) -> [(name: String, value: JSONValue?)] {
        [("application/json", .media(schema, example: example))]
    }

    private static let minimal = (
        204, JSONValue.content("Done; the answer was to be minimal.", [], headers: headers + ["Preference-Applied"])
    )

    // MARK: - Stores

    private mutating func list(_ store: SharedStore, _ shared: inout JSONSchemaDefinitions) -> [OpenAPIOperation] {
        let schema = store.host.itemSchema
        let accepted = accepted(of: schema)
        let one: JSONValue = ["anyOf": [accepted, ["type": "array", "items": accepted]]]
        let outcome = shared.value(of: OpenAPISchemas.storeOutcome)
        let item = type(of: schema)
        return [
            OpenAPIOperation(
                method: .get,
                id: "\(name).listStore/\(store.name)",
                summary: "The items of the store, in its order.",
                parameters: [
                    .parameter(
                        "after",
                        in: "query",
                        "Only items behind the one with this identifier: `next` of the page before.",
                        ["type": "string"]
                    ),
                    OpenAPIParameters.limit("The most items of the page."), OpenAPIParameters.ifNoneMatch,
                ],
                responses: [
                    (
                        200,
                        .content(
                            "A page; `next` when there is more.",
                            Self.media(type(of: OpenAPISchemas.page(of: schema))),
                            headers: Self.headers
                        )
                    ),
                    (304, OpenAPIParameters.notModified),
                ],
                problems: [404, 410, 500, 503]
            ),
            OpenAPIOperation(
                method: .post,
                id: "\(name).insertIntoStore/\(store.name)",
                summary:
                    "Inserts one item, or an array in one transaction; items take the place of those with their identifiers.",
                parameters: [Self.versionCondition, Self.prefer],
                body: .content("An item, or an array of items.", Self.media(one, schema.example), isRequired: true),
                responses: [
                    (
                        200,
                        .content(
                            "What became of them; the item itself, when it took another one's place.",
                            Self.media(["anyOf": [outcome, item]]),
                            headers: Self.headers
                        )
                    ),
                    (201, .content("The one item is new.", Self.media(item), headers: Self.headers + ["Location"])),
                    Self.minimal,
                ],
                problems: Self.changeProblems
            ),
            OpenAPIOperation(
                method: .delete,
                id: "\(name).emptyStore/\(store.name)",
                summary: "Removes all items.",
                parameters: [Self.versionCondition],
                responses: [(204, .content("They are gone.", [], headers: Self.headers))],
                problems: Self.changeProblems
            ),
        ]
    }

    private mutating func item(_ store: SharedStore) -> [OpenAPIOperation] {
        let schema = store.host.itemSchema
        let item = type(of: schema)
        return [
            OpenAPIOperation(
                method: .get,
                id: "\(name).readItem/\(store.name)",
                summary: "One item.",
                parameters: [OpenAPIParameters.ifNoneMatch],
                responses: [
                    (200, .content("The item.", Self.media(item), headers: ["ETag"])),
                    (304, OpenAPIParameters.notModified),
                ],
                problems: [404, 500, 503]
            ),
            OpenAPIOperation(
                method: .put,
                id: "\(name).putItem/\(store.name)",
                summary: "Inserts the item, or puts it in the place of the one that is there.",
                parameters: Self.itemConditions + [Self.prefer],
                body: .content(
                    "The item, with the identifier of the path.",
                    Self.media(accepted(of: schema), schema.example),
                    isRequired: true
                ),
                responses: [
                    (200, .content("It took the place of another one.", Self.media(item), headers: Self.headers)),
                    (201, .content("It is new.", Self.media(item), headers: Self.headers + ["Location"])),
                    Self.minimal,
                ],
                problems: Self.changeProblems
            ),
            OpenAPIOperation(
                method: .delete,
                id: "\(name).deleteItem/\(store.name)",
                summary: "Removes the item.",
                parameters: Self.itemConditions,
                responses: [(204, .content("It is gone.", [], headers: ["Rivulet-Version"]))],
                problems: Self.changeProblems
            ),
        ]
    }

    private mutating func operations(_ store: SharedStore, _ shared: inout JSONSchemaDefinitions) -> [OpenAPIOperation]
    {
        let items = accepted(of: store.host.itemSchema)
        let operation: JSONValue = [
            "anyOf": [
                [
                    "type": "object", "required": ["insert"],
                    "properties": ["insert": ["type": "array", "items": items]], "additionalProperties": false,
                ],
                [
                    "type": "object", "required": ["remove"],
                    "properties": ["remove": ["type": "array", "items": ["type": "string"]]],
                    "additionalProperties": false,
                ],
                [
                    "type": "object", "required": ["removeAll"], "properties": ["removeAll": ["type": "object"]],
                    "additionalProperties": false,
                ],
            ]
        ]
        let schema: JSONValue = [
            "type": "object", "required": ["operations"], "additionalProperties": false,
            "properties": ["operations": ["type": "array", "items": operation, "maxItems": 1_000]],
        ]
        let outcome = Self.media(shared.value(of: OpenAPISchemas.storeOutcome))
        return [
            OpenAPIOperation(
                method: .post,
                id: "\(name).operateStore/\(store.name)",
                summary: "Makes a chain of operations in one transaction.",
                description:
                    "An insert just behind `remove` of a list or `removeAll` is one operation with it: one event, `insert`.",
                parameters: [Self.versionCondition, Self.prefer],
                body: .content(
                    "The operations, in their order.",
                    Self.media(schema, ["operations": [["remove": ["a"]], ["removeAll": [:]]]]),
                    isRequired: true
                ),
                responses: [(200, .content("What became of them.", outcome, headers: Self.headers)), Self.minimal],
                problems: Self.changeProblems
            )
        ]
    }

    private mutating func events(_ store: SharedStore) -> OpenAPIOperation {
        stream(
            "streamStore/\(store.name)",
            "Streams what happens to the items: first the latest event, then every later one.",
            OpenAPISchemas.storeEvents(of: store.host.itemSchema).map { ($0.name, type(of: $0.data)) }
        )
    }

    // MARK: - Values

    private mutating func operations(_ value: SharedValue) -> [OpenAPIOperation] {
        let schema = value.host.schema
        let answer = JSONValue.content("The value.", Self.media(type(of: schema)), headers: Self.headers)
        return [
            OpenAPIOperation(
                method: .get,
                id: "\(name).readValue/\(value.name)",
                summary: "The value.",
                parameters: [OpenAPIParameters.ifNoneMatch],
                responses: [(200, answer), (304, OpenAPIParameters.notModified)],
                problems: [404, 500, 503]
            ),
            OpenAPIOperation(
                method: .put,
                id: "\(name).writeValue/\(value.name)",
                summary: "Sets the value.",
                parameters: [Self.versionCondition, Self.prefer],
                body: .content("The value.", Self.media(accepted(of: schema), schema.example), isRequired: true),
                responses: [(200, answer), Self.minimal],
                problems: Self.changeProblems
            ),
            OpenAPIOperation(
                method: .delete,
                id: "\(name).resetValue/\(value.name)",
                summary: "Sets the value to its default.",
                parameters: [Self.versionCondition, Self.prefer],
                responses: [(200, answer), Self.minimal],
                problems: Self.changeProblems
            ),
        ]
    }

    private mutating func toggle(_ value: SharedValue) -> OpenAPIOperation {
        OpenAPIOperation(
            method: .post,
            id: "\(name).toggleValue/\(value.name)",
            summary: "Makes true of false and false of true.",
            parameters: [Self.versionCondition, Self.prefer],
            responses: [
                (200, .content("The value.", Self.media(type(of: value.host.schema)), headers: Self.headers)),
                Self.minimal,
            ],
            problems: Self.changeProblems
        )
    }

    private mutating func changes(_ value: SharedValue) -> OpenAPIOperation {
        stream(
            "streamValue/\(value.name)",
            "Streams the value: as it is, then each time that it is set.",
            OpenAPISchemas.valueEvents(of: value.host.schema).map { ($0.name, type(of: $0.data)) }
        )
    }

    private func stream(
        _ id: String,
        _ summary: String,
        _ events: [(name: String, value: JSONValue?)]
    ) -> OpenAPIOperation {
        let stream = JSONValue.members([
            ("schema", ["type": "string"]),
            // The data of each event, which OpenAPI 3.1 has no keyword for.
            ("x-rivulet-events", .members(events)),
        ])
        return OpenAPIOperation(
            method: .get,
            id: "\(name).\(id)",
            summary: summary,
            description: "Server-sent events; `id` is the cursor at which the reader then stands. "
                + OpenAPISchemas.streamEnd,
            parameters: [
                .parameter("cursor", in: "query", "The cursor to go on from.", ["type": "string"]),
                OpenAPIParameters.lastEventID,
            ],
            responses: [(200, .content("The stream.", [("text/event-stream", stream)]))],
            problems: [404, 406, 500, 503]
        )
    }

    // MARK: - Secrets

    private mutating func operations(
        _ secret: SharedSecret,
        _ shared: inout JSONSchemaDefinitions
    ) -> [OpenAPIOperation] {
        let schema = secret.host.schema
        return [
            OpenAPIOperation(
                method: .get,
                id: "\(name).readSecret/\(secret.name)",
                summary: "Whether there is a secret; nothing gives it back.",
                responses: [
                    (
                        200,
                        .content("Whether there is one.", Self.media(shared.value(of: OpenAPISchemas.secretPresence)))
                    )
                ],
                problems: [404, 500, 503]
            ),
            OpenAPIOperation(
                method: .put,
                id: "\(name).writeSecret/\(secret.name)",
                summary: "Seals and stores the secret.",
                body: .content("The secret.", Self.media(accepted(of: schema), schema.example), isRequired: true),
                responses: [(204, .content("It is stored.", []))],
                problems: Self.changeProblems.filter { $0 != 412 }
            ),
            OpenAPIOperation(
                method: .delete,
                id: "\(name).deleteSecret/\(secret.name)",
                summary: "Removes the secret.",
                responses: [(204, .content("It is gone.", []))],
                problems: [404, 500, 503, 507]
            ),
        ]
    }
}
