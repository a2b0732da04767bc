import RivuletBase
import RivuletHTTP
import RivuletJSON
import RivuletSchema
import RivuletSessions
import RivuletStores

/// The document at `GET /openapi.json`: every resource of this server, with the types of its apps.
///
/// It is made once, when the server starts. The template has a path for every kind of resource. HEAD is not described.
/// Source: <https://spec.openapis.org/oas/v3.1.1.html>.
struct OpenAPIDocument {
    /// The whole document.
    let json: JSONValue

    /// The template of this build, read once.
    private static let embedded = Result { () throws(ServerError) in
        try OpenAPITemplate(PackageResources.openapi_json, parts: problems)
    }

    /// Describes the server; the order of the apps does not matter.
    ///
    /// - Throws: `ServerError` if the template has an error. The tests of the build report the same error.
    init(of shapes: [AppShape], _ options: ServerOptions) throws(ServerError) {
        let shapes = shapes.sorted { $0.name < $1.name }
        let template = try Self.template(of: shapes.map(\.name), options)
        var apps = shapes.map { OpenAPIApp($0, template) }
        var paths: [JSONValue.Member] = []
        for resource in Resource.allCases {
            guard resource.path.contains("{app}") else {
                paths.append(template.path(of: resource, tag: "server"))
                continue
            }
            for index in apps.indices { paths += apps[index].paths(of: resource) }
        }
        json = template.document(paths: paths, schemas: apps.flatMap(\.schemas))
    }

    /// The document as it is served.
    var file: StaticFile { StaticFile(contentType: "application/json", lastModified: nil, bytes: json.json) }

    /// The template with the server's limits and the names from the sources.
    private static func template(of apps: [String], _ options: ServerOptions) throws(ServerError) -> OpenAPITemplate {
        let apps = apps.map { app -> JSONValue in ["name": .string(app)] }
        var template = try embedded.get()
        template.names = [
            "version": options.version, "key bytes": "\(HTTPIdempotencyKey.bytesMax)",
            "server": options.publicURL.map(Self.withoutSlash) ?? "/",
        ]
        template.values = [
            .tags: .array([["name": "server"]] + apps),
            .apps: .array(apps),
            .pathsMax: .number("\(options.sessionLimits.pathsPerStreamMax)"),
            .intervalMin: .number("\(ChangesEndpoint.intervalRange.lowerBound)"),
            .intervalMax: .number("\(ChangesEndpoint.intervalRange.upperBound)"),
            .formats: list(of: StreamFormat.self),
            .resumptions: list(of: StreamResumption.self),
            .streamStates: .array(SubscriberState.Phase.allCases.map { .string("\($0)") }),
            .byeReasons: list(of: StreamEvent.ByeReason.self),
            .resetReasons: list(of: ResetReason.self),
            .sharedResetReasons: .array(ResetReason.ofShared.map { .string($0.rawValue) }),
            .problemTypes: list(of: ProblemType.self),
        ]
        if options.credentials != nil { template.values[.securitySchemes] = securitySchemes }
        return template
    }

    /// A URL without a slash at its end, because each path begins with one.
    private static func withoutSlash(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }

    /// The ways to send a credential.
    private static let securitySchemes = JSONValue.object(
        CredentialScheme.allCases.map { JSONValue.Member(name: $0.rawValue, value: $0.document) }
    )

    private static func list<Value: CaseIterable & RawRepresentable<String>>(of type: Value.Type) -> JSONValue {
        .array(Value.allCases.map { .string($0.rawValue) })
    }

    /// One part for each status of a refusal, such as `problem 404`, with the content of the answer.
    ///
    /// 405 has no part, because the document describes only methods that a path has.
    static var problems: [JSONValue.Member] {
        Set(ProblemType.allCases.map(\.status)).subtracting([405]).sorted().map { status in
            JSONValue.Member(name: "problem \(status)", value: problems(of: status))
        }
    }

    /// The content of an answer with this status: an example of each type.
    private static func problems(of status: Int) -> JSONValue {
        let examples = ProblemType.allCases.filter { $0.status == status }.map { type in
            let example: JSONValue = ["summary": .string(type.title), "value": type.example]
            return JSONValue.Member(name: type.rawValue, value: example)
        }
        let schema = OpenAPITemplate.reference(to: "schemas", "Problem")
        return ["application/problem+json": ["schema": schema, "examples": .object(examples)]]
    }
}
