import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// One app in the document: the operations of its resources, and the schemas of its types.
///
/// The app's own types are named `app.types.…` as they are written and `app.accepted.…` as they are read: a dot is in no app's name, so
/// names of two apps never clash.
struct OpenAPIApp {
    let shape: AppShape
    let options: ServerOptions
    private var types: JSONSchemaDefinitions
    private var accepted: JSONSchemaDefinitions
    private var roots: [JSONValue.Member] = []

    init(_ shape: AppShape, _ options: ServerOptions) {
        self.shape = shape
        self.options = options
        types = JSONSchemaDefinitions(referencePrefix: "#/components/schemas/\(shape.name).types.")
        accepted = JSONSchemaDefinitions(
            referencePrefix: "#/components/schemas/\(shape.name).accepted.",
            direction: .read
        )
        roots = [
            JSONValue.Member(name: "\(name).State", value: types.value(of: shape.state)),
            JSONValue.Member(name: "\(name).Event", value: accepted.value(of: shape.event)),
        ]
    }

    var name: String { shape.name }

    /// The schema components that this app's operations refer to.
    var schemas: [JSONValue.Member] {
        roots
            + types.members.map { JSONValue.Member(name: "\(name).types.\($0.name)", value: $0.value) }
            + accepted.members.map { JSONValue.Member(name: "\(name).accepted.\($0.name)", value: $0.value) }
    }

    /// The path of the app's resource.
    func path(of resource: Resource) -> String { resource.path.replacing("{app}", with: name) }

    /// The shape of a type as it is written.
    mutating func type(of schema: JSONSchema) -> JSONValue { types.value(of: schema) }

    /// The shape of a type as it is read.
    mutating func accepted(of schema: JSONSchema) -> JSONValue { accepted.value(of: schema) }

    /// The app's whole state, or any event of it.
    func root(_ type: String) -> JSONValue { .reference(to: "schemas", "\(name).\(type)") }

    // MARK: - The app

    func description(_ shared: inout JSONSchemaDefinitions) -> [OpenAPIOperation] {
        let media = JSONValue.media(shared.value(of: OpenAPISchemas.app))
        return [
            OpenAPIOperation(
                method: .get,
                id: "\(name).readApp",
                summary: "The types of \(name).",
                description: "JSON Schemas of its state, events and views; its fields and its bindings.",
                parameters: [OpenAPIParameters.ifNoneMatch],
                responses: [
                    (200, .content("The description.", [("application/json", media)], headers: ["ETag"])),
                    (304, OpenAPIParameters.notModified),
                ]
            )
        ]
    }

    func typeScript() -> [OpenAPIOperation] {
        let media = JSONValue.media(["type": "string"])
        return [
            OpenAPIOperation(
                method: .get,
                id: "\(name).readTypes",
                summary: "The same types as TypeScript.",
                parameters: [OpenAPIParameters.ifNoneMatch],
                responses: [
                    (200, .content("Declarations.", [("text/plain; charset=utf-8", media)], headers: ["ETag"])),
                    (304, OpenAPIParameters.notModified),
                ]
            )
        ]
    }

    // MARK: - Sessions

    func sessions(_ shared: inout JSONSchemaDefinitions) -> [OpenAPIOperation] {
        let page = JSONValue.media(shared.value(of: OpenAPISchemas.sessions))
        return [
            OpenAPIOperation(
                method: .get,
                id: "\(name).listSessions",
                summary: "The sessions of \(name), ordered by id.",
                parameters: [
                    .parameter(
                        "after",
                        in: "query",
                        "Only ids after this one: `next` of the page before.",
                        ["type": "string"]
                    ),
                    OpenAPIParameters.limit("The most sessions of the page."),
                ],
                responses: [(200, .content("A page; `next` when there is more.", [("application/json", page)]))],
                problems: [500, 503]
            ),
            OpenAPIOperation(
                method: .post,
                id: "\(name).createSession",
                summary: "Creates a session, with a fresh unguessable id unless the body names one.",
                parameters: [OpenAPIParameters.strict],
                body: wish(with: ["id": ["type": "string", "pattern": "^[A-Za-z0-9_-]{1,128}$"]]),
                responses: [(201, info("It is there.", &shared, headers: ["Location"]))],
                problems: [409, 415, 422, 500, 503, 507]
            ),
        ]
    }

    func session(_ shared: inout JSONSchemaDefinitions) -> [OpenAPIOperation] {
        [
            OpenAPIOperation(
                method: .get,
                id: "\(name).readSession",
                summary: "What is known of the session besides its state.",
                responses: [(200, info("The session.", &shared))],
                problems: [404, 409, 500, 503]
            ),
            OpenAPIOperation(
                method: .put,
                id: "\(name).putSession",
                summary: "Creates the session of this id; one that is there stays as it is.",
                parameters: [OpenAPIParameters.strict],
                body: wish(),
                responses: [
                    (200, info("It was there already.", &shared)),
                    (201, info("It is there now.", &shared, headers: ["Location"])),
                ],
                problems: [409, 415, 422, 500, 503, 507]
            ),
            OpenAPIOperation(
                method: .delete,
                id: "\(name).deleteSession",
                summary: "Deletes the session with its history; its streams end.",
                responses: [(204, .content("It is gone.", []))],
                problems: [404, 409, 500, 503, 507]
            ),
        ]
    }

    func info(
        _ description: String,
        _ shared: inout JSONSchemaDefinitions,
        headers: [String] = []
    ) -> JSONValue {
        let example: JSONValue = [
            "app": .string(name), "id": "a", "epoch": "k3v9x0qa", "version": 7, "created": "2026-01-01T00:00:00.000Z",
            "updated": "2026-01-01T00:00:00.000Z", "streams": 0, "retained": ["from": 1, "to": 7],
        ]
        let media = JSONValue.media(shared.value(of: OpenAPISchemas.session), example: example)
        return .content(description, [("application/json", media)], headers: headers)
    }

    /// What a session is to begin with; the body may be left out.
    private func wish(with id: JSONValue = [:]) -> JSONValue {
        let state: JSONValue = [
            "type": "object",
            "description": .string("Any part of #/components/schemas/\(name).State; the rest has its defaults."),
        ]
        let properties = JSONValue.object((id.members ?? []) + [JSONValue.Member(name: "state", value: state)])
        let schema: JSONValue = ["type": "object", "properties": properties, "additionalProperties": false]
        return .content("What it begins with.", [("application/json", .media(schema, example: ["state": [:]]))])
    }

    // MARK: - State

    /// A path for each place of the state, so that each has its type.
    mutating func state(_ resource: Resource, _ shared: inout JSONSchemaDefinitions) -> [JSONValue.Member] {
        shape.places.map { place in
            var (path, parameters) = (path(of: resource), [OpenAPIParameters.session])
            for token in place.tokens {
                guard token == "*" else {
                    path += "/" + PercentCoding.encoded(JSONPointer.escape(token))
                    continue
                }
                let element = "element\(parameters.count)"
                path += "/{\(element)}"
                parameters.append(
                    .parameter(element, in: "path", "The element's id.", ["type": "string"], isRequired: true)
                )
            }
            var operations = [read(place)]
            if let bound = place.bound { operations.append(write(bound, at: place, &shared)) }
            let item = OpenAPIDocument.pathItem(operations, tag: name, parameters: parameters)
            return JSONValue.Member(name: path, value: item)
        }
    }

    private mutating func read(_ place: AppShape.Place) -> OpenAPIOperation {
        let path = JSONPointer(tokens: place.tokens).description
        let schema = place.tokens.isEmpty ? root("State") : types.value(of: place.schema)
        let media = JSONValue.media(schema, example: place.standard)
        return OpenAPIOperation(
            method: .get,
            id: "\(name).readState\(path)",
            summary: path.isEmpty ? "The whole state." : "The value at `\(path)`.",
            parameters: [Self.version("The state as it was stored of this version."), OpenAPIParameters.ifNoneMatch],
            responses: [
                (200, .content("The value.", [("application/json", media)], headers: ["ETag", "Rivulet-Version"])),
                (304, OpenAPIParameters.notModified),
            ],
            problems: [404, 409, 410, 500, 503]
        )
    }

    private mutating func write(
        _ bound: JSONSchema,
        at place: AppShape.Place,
        _ shared: inout JSONSchemaDefinitions
    ) -> OpenAPIOperation {
        let path = JSONPointer(tokens: place.tokens).description
        let media = JSONValue.media(accepted.value(of: bound), example: bound.example)
        return OpenAPIOperation(
            method: .put,
            id: "\(name).writeState\(path)",
            summary: "Dispatches the event that is bound to `\(path)`.",
            parameters: OpenAPIParameters.dispatch,
            body: .content("The value.", [("application/json", media)], isRequired: true),
            responses: Self.dispatched(&shared),
            problems: Self.dispatchProblems
        )
    }
}
