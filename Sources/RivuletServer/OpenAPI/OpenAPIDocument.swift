import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// `GET /openapi.json`: every resource of this server, with the types of its apps; made once, when the server starts.
///
/// Every kind of resource is in the switch of `add(_:)`, and what it can do in `Resource.methods`. HEAD is not described.
/// Source: <https://spec.openapis.org/oas/v3.1.1.html>.
struct OpenAPIDocument {
    private var shared = JSONSchemaDefinitions(referencePrefix: "#/components/schemas/")
    private var apps: [OpenAPIApp]
    private var paths: [JSONValue.Member] = []
    /// The whole document.
    private(set) var json = JSONValue.null

    /// Describes the server; the order of the apps does not matter.
    init(of shapes: [AppShape], _ options: ServerOptions) {
        apps = shapes.sorted { $0.name < $1.name }.map { OpenAPIApp($0, options) }
        for resource in Resource.allCases { add(resource) }
        json = document(version: options.version)
    }

    /// The document as it is served.
    var file: StaticFile { StaticFile(contentType: "application/json", lastModified: nil, bytes: json.json) }

    private mutating func add(_ resource: Resource) {
        switch resource {
        case .health: add(resource, health())
        case .readiness: add(resource, readiness())
        case .metrics: add(resource, metrics())
        case .openAPI: add(resource, openAPI())
        case .problems: add(resource, problems())
        case .problem: add(resource, problem(), parameters: [Self.problemParameter])
        case .file: add(resource, publicFile(), parameters: [Self.fileParameter])
        case .apps: add(resource, appList())
        case .app: addEach(resource) { $0.description(&$1) }
        case .types: addEach(resource) { app, _ in app.typeScript() }
        case .sessions: addEach(resource) { $0.sessions(&$1) }
        case .session: addEach(resource) { $0.session(&$1) }
        case .state:
            for index in apps.indices { paths += apps[index].state(resource, &shared) }
        case .events: addEach(resource) { [$0.log(&$1)] + $0.events(&$1) }
        case .reset: addEach(resource) { $0.reset(&$1) }
        case .restore: addEach(resource) { $0.restore(&$1) }
        case .fork: addEach(resource) { $0.fork(&$1) }
        case .streams:
            let item = Self.pathItem(streamList(), tag: "server", parameters: [])
            paths.append(JSONValue.Member(name: resource.path, value: item))
        case .stream:
            let item = Self.pathItem(oneStream(), tag: "server", parameters: [Self.streamParameter])
            paths.append(JSONValue.Member(name: resource.path, value: item))
        case .changes: addEach(resource) { $0.changes(&$1) }
        case .views: addEach(resource) { $0.views(&$1) }
        case .view: addEach(resource) { $0.view(&$1) }
        case .viewChanges: addEach(resource) { $0.viewChanges(&$1) }
        case .store, .item, .operations, .storeEvents, .value, .toggle, .valueChanges, .secret:
            for index in apps.indices { paths += apps[index].sharedPaths(of: resource, &shared) }
        }
    }

    private mutating func add(_ resource: Resource, _ operation: OpenAPIOperation, parameters: [JSONValue] = []) {
        let item = Self.pathItem([operation], tag: "server", parameters: parameters)
        paths.append(JSONValue.Member(name: resource.path, value: item))
    }

    /// Adds one path for each app.
    private mutating func addEach(
        _ resource: Resource,
        _ operations: (inout OpenAPIApp, inout JSONSchemaDefinitions) -> [OpenAPIOperation]
    ) {
        for index in apps.indices {
            let path = apps[index].path(of: resource)
            let parameters =
                (path.contains("{session}") ? [OpenAPIParameters.session] : [])
                + (path.contains("{view}") ? [apps[index].viewParameter] : [])
            let item = Self.pathItem(
                operations(&apps[index], &shared),
                tag: apps[index].name,
                parameters: parameters
            )
            paths.append(JSONValue.Member(name: path, value: item))
        }
    }

    /// The operations of one path.
    static func pathItem(_ operations: [OpenAPIOperation], tag: String, parameters: [JSONValue]) -> JSONValue {
        .members(
            [("parameters", .array(parameters + [OpenAPIParameters.traceParent]))]
                + operations.map { ($0.method.name.lowercased(), $0.json(tag: tag)) }
        )
    }

    // MARK: - Frame

    private mutating func document(version: String) -> JSONValue {
        let problem = shared.value(of: OpenAPISchemas.problem)
        let schemas = apps.flatMap(\.schemas) + shared.members
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "Rivulet",
                "version": .string(version),
                "description": .string(Self.introduction),
            ],
            "servers": [["url": "/"]],
            "tags": .array(["server"] + apps.map { .string($0.name) }).named,
            "paths": .object(paths),
            "components": [
                "schemas": .object(schemas),
                "parameters": OpenAPIParameters.components,
                "headers": OpenAPIParameters.headers,
                "responses": OpenAPIProblem.responses(schema: problem),
            ],
        ]
    }

    private static let introduction = """
        Hosts reducer-driven states and streams their changes, key path by key path. Where there is GET there is HEAD, \
        but for change streams. `OPTIONS` is 204 with `Allow`, and answers preflights of allowed origins; any other method is 405 with `Allow`. \
        Unknown query parameters are 400. \
        Every refusal is an `application/problem+json` document.
        """

    // MARK: - Resources of the server

    private mutating func health() -> OpenAPIOperation {
        OpenAPIOperation(
            method: .get,
            id: "readHealth",
            summary: "Whether the server is alive.",
            responses: [
                (200, .content("It is.", [("application/json", .media(shared.value(of: OpenAPISchemas.health)))]))
            ]
        )
    }

    private mutating func readiness() -> OpenAPIOperation {
        let media = JSONValue.media(shared.value(of: OpenAPISchemas.readiness))
        return OpenAPIOperation(
            method: .get,
            id: "readReadiness",
            summary: "Whether the server takes new work.",
            responses: [(200, .content("It does.", [("application/json", media)]))],
            problems: [503]
        )
    }

    private func metrics() -> OpenAPIOperation {
        OpenAPIOperation(
            method: .get,
            id: "readMetrics",
            summary: "What the server has counted.",
            responses: [
                (
                    200,
                    .content(
                        "Prometheus's text format, version 0.0.4.",
                        [("text/plain; version=0.0.4; charset=utf-8", .media(["type": "string"]))]
                    )
                )
            ],
            problems: [404]
        )
    }

    private func openAPI() -> OpenAPIOperation {
        OpenAPIOperation(
            method: .get,
            id: "readOpenAPI",
            summary: "This document.",
            parameters: [OpenAPIParameters.ifNoneMatch],
            responses: [
                (
                    200,
                    .content(
                        "An OpenAPI 3.1 document.",
                        [("application/json", .media(["type": "object"]))],
                        headers: ["ETag"]
                    )
                ),
                (304, OpenAPIParameters.notModified),
            ]
        )
    }

    private static let problemParameter = JSONValue.parameter(
        "problem",
        in: "path",
        "The last segment of a problem's `type`.",
        ["type": "string", "enum": .array(ProblemType.allCases.map { .string($0.rawValue) })],
        isRequired: true
    )

    private func problems() -> OpenAPIOperation {
        page("readProblems", "All types of problems.", "A page that leads to those of all types.")
    }

    private func problem() -> OpenAPIOperation {
        page("readProblem", "A type of problem.", "A page with its cause, its remedy and an example.", problems: [404])
    }

    private func page(
        _ id: String,
        _ summary: String,
        _ description: String,
        problems: [Int] = []
    ) -> OpenAPIOperation {
        let media = JSONValue.media(["type": "string"])
        return OpenAPIOperation(
            method: .get,
            id: id,
            summary: summary,
            parameters: [OpenAPIParameters.ifNoneMatch],
            responses: [
                (200, .content(description, [("text/html; charset=utf-8", media)], headers: ["ETag"])),
                (304, OpenAPIParameters.notModified),
            ],
            problems: problems
        )
    }

    private static let fileParameter = JSONValue.parameter(
        "file",
        in: "path",
        "The file's path in the public folder. Its slashes stand as they are, which OpenAPI cannot say; none is `index.html`.",
        ["type": "string"],
        isRequired: true
    )

    private func publicFile() -> OpenAPIOperation {
        OpenAPIOperation(
            method: .get,
            id: "readFile",
            summary: "A file of the public folder.",
            parameters: [OpenAPIParameters.ifNoneMatch],
            responses: [
                (200, .content("The file.", [("*/*", .media([:]))], headers: ["ETag"])),
                (206, .content("The bytes that `Range` asks for.", [("*/*", .media([:]))], headers: ["ETag"])),
                (304, OpenAPIParameters.notModified),
            ],
            problems: [404, 416]
        )
    }

    private mutating func appList() -> OpenAPIOperation {
        let names = apps.map { app -> JSONValue in ["name": .string(app.name)] }
        let media = JSONValue.media(shared.value(of: OpenAPISchemas.apps), example: ["apps": .array(names)])
        return OpenAPIOperation(
            method: .get,
            id: "listApps",
            summary: "The apps of this server.",
            responses: [(200, .content("Their names, in order.", [("application/json", media)]))]
        )
    }
}

extension JSONValue {
    /// Each element as an object with this name.
    fileprivate var named: JSONValue { .array((elements ?? []).map { ["name": $0] }) }
}
