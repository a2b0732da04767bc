import RivuletBase
import RivuletHTTP
import RivuletJSON
import RivuletSchema
import RivuletSessions
import RivuletStores

/// `GET /openapi.json`: every resource of this server, with the types of its apps; made once, when the server starts.
///
/// The template has a path for every kind of resource. HEAD is not described.
/// Source: <https://spec.openapis.org/oas/v3.1.1.html>.
struct OpenAPIDocument {
    /// The whole document.
    let json: JSONValue

    /// Describes the server; the order of the apps does not matter.
    init(of shapes: [AppShape], _ options: ServerOptions) {
        let shapes = shapes.sorted { $0.name < $1.name }
        let template = Self.template(of: shapes.map(\.name), options)
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

    /// The template with the server's limits and the names that the sources have.
    private static func template(of apps: [String], _ options: ServerOptions) -> OpenAPITemplate {
        let names = apps.map { app -> JSONValue in ["name": .string(app)] }
        var values: [String: JSONValue] = [
            "tags": .array([["name": "server"]] + names),
            "apps": .array(names),
            "paths at most": .number("\(options.sessionLimits.pathsPerStreamMax)"),
            "shortest interval": .number("\(StreamEndpoint.intervalRange.lowerBound)"),
            "longest interval": .number("\(StreamEndpoint.intervalRange.upperBound)"),
            "formats": list(of: StreamFormat.self),
            "resumptions": list(of: StreamResumption.self),
            "bye reasons": list(of: StreamEvent.ByeReason.self),
            "reset reasons": list(of: ResetReason.self),
            "shared reset reasons": .array(ResetReason.ofShared.map { .string($0.rawValue) }),
            "problem types": list(of: ProblemType.self),
        ]
        for status in Set(ProblemType.allCases.map(\.status)) { values["problem \(status)"] = problems(of: status) }
        return OpenAPITemplate(
            names: ["version": options.version, "key bytes": "\(HTTPIdempotencyKey.bytesMax)"],
            values: values
        )
    }

    private static func list<Value: CaseIterable & RawRepresentable<String>>(of type: Value.Type) -> JSONValue {
        .array(Value.allCases.map { .string($0.rawValue) })
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
