import RivuletHTTP
import RivuletJSON
import RivuletObservation
import RivuletSchema
import RivuletSessions
import RivuletStores

/// One app in the document: its values in the template, and the schemas of its types.
///
/// Each of the app's own types has two schemas: `app.types.…` for JSON that the server writes, and `app.accepted.…` for
/// JSON that it reads.
/// No app's name contains a dot, so names of two apps never clash.
struct OpenAPIApp {
    private let shape: AppShape
    private var template: OpenAPITemplate
    private var types: JSONSchemaDefinitions
    private var accepted: JSONSchemaDefinitions
    private var roots: [JSONValue.Member] = []

    /// Makes the app's part; `template` already has the values of the server.
    init(_ shape: AppShape, _ template: OpenAPITemplate) {
        self.shape = shape
        self.template = template
        types = JSONSchemaDefinitions(referencePrefix: "#/components/schemas/\(shape.name).types.")
        accepted = JSONSchemaDefinitions(
            referencePrefix: "#/components/schemas/\(shape.name).accepted.",
            direction: .read
        )
        roots = [
            JSONValue.Member(name: "\(shape.name).State", value: types.value(of: shape.state)),
            JSONValue.Member(name: "\(shape.name).Event", value: accepted.value(of: shape.event)),
        ]
        self.template.names["app"] = shape.name
        addEvents()
        addViews()
    }

    /// The schema components that this app's operations refer to.
    var schemas: [JSONValue.Member] {
        roots
            + types.members.map { JSONValue.Member(name: "\(shape.name).types.\($0.name)", value: $0.value) }
            + accepted.members.map { JSONValue.Member(name: "\(shape.name).accepted.\($0.name)", value: $0.value) }
    }

    /// Returns the paths of a kind of resource.
    ///
    /// Each key path of the state, and each store, value and secret, has a path of its own, so that the document has
    /// its type.
    mutating func paths(of resource: Resource) -> [JSONValue.Member] {
        switch resource {
        case .state: return shape.locations.map { path(of: $0) }
        case .store, .item, .operations, .storeEvents:
            return shape.shared.stores.map { path(of: resource, "store", $0.name, $0.host.itemSchema) }
        case .value, .valueChanges:
            return shape.shared.values.map { path(of: resource, "value", $0.name, $0.host.schema) }
        case .toggle:
            return shape.shared.values.filter(\.host.isBool).map {
                path(of: resource, "value", $0.name, $0.host.schema)
            }
        case .secret:
            return shape.shared.secrets.map { path(of: resource, "secret", $0.name, $0.host.schema) }
        case .health, .readiness, .metrics, .cluster, .openAPI, .problems, .problem, .file, .caller,
            .login, .tickets, .resourceMetadata, .revocations, .revocation, .apps, .app, .types, .sessions,
            .session, .events, .changes, .reset, .restore, .fork, .streams, .stream, .views, .view, .viewChanges:
            return [template.path(of: resource, tag: shape.name)]
        }
    }

    // MARK: - Values

    private mutating func addEvents() {
        let examples = shape.events.compactMap { event in event.schema.example.map { (name: event.name, $0) } }
        template.values[.eventExamples] = .object(
            examples.map { JSONValue.Member(name: $0.name, value: ["value": $0.1]) }
        )
        template.values[.eventLines] = .string(examples.prefix(2).map { "\($0.1)\n" }.joined())
    }

    private mutating func addViews() {
        let views = shape.views.map { JSONValue.Member(name: $0.name, value: types.value(of: $0.schema)) }
        template.values[.views] = .object(views)
        template.values[.view] = views.isEmpty ? ["type": "object"] : ["anyOf": .array(views.map(\.value))]
        let names: JSONValue = .array(views.map { .string($0.name) })
        template.values[.viewName] = [
            "name": "view", "in": "path",
            "description": .string(views.isEmpty ? "A view's name; this app has none." : "The view's name."),
            "required": true,
            "schema": views.isEmpty ? ["type": "string"] : ["type": "string", "enum": names],
        ]
    }

    /// The path of a store, a value or a secret.
    private mutating func path(
        of resource: Resource,
        _ kind: String,
        _ name: String,
        _ schema: JSONSchema
    ) -> JSONValue.Member {
        var template = template
        template.names[kind] = name
        // Only the schemas that the operations refer to become components.
        if resource != .secret { template.values[.written] = types.value(of: schema) }
        if resource != .storeEvents, resource != .valueChanges, resource != .toggle {
            template.values[.accepted] = accepted.value(of: schema)
        }
        template.values[.example] = schema.example
        return template.path(of: resource, tag: shape.name)
    }

    /// Returns the path of one key path of the state; it has PUT only if an event is bound to the key path.
    private mutating func path(of location: AppShape.Location) -> JSONValue.Member {
        let pointer = JSONPointer(tokens: location.tokens).description
        var (template, path, elements) = (template, "", [JSONValue]())
        for token in location.tokens {
            guard token == "*" else {
                path += "/" + PercentCoding.encoded(JSONPointer.escape(token))
                continue
            }
            let element = "element\(elements.count + 1)"
            path += "/{\(element)}"
            elements.append([
                "name": .string(element), "in": "path", "description": "The element's id.", "required": true,
                "schema": ["type": "string"],
            ])
        }
        template.names["pointer"] = pointer
        template.names["place"] = pointer.isEmpty ? "The whole state." : "The value at `\(pointer)`."
        template.values[.elements] = .array(elements)
        template.values[.written] =
            location.tokens.isEmpty
            ? OpenAPITemplate.reference(to: "schemas", "\(shape.name).State") : types.value(of: location.schema)
        template.values[.defaultValue] = location.defaultValue
        template.values[.accepted] = location.bound.map { accepted.value(of: $0) }
        template.values[.example] = location.bound?.example
        let item = template.path(of: .state, tag: shape.name, without: location.bound == nil ? "put" : nil)
        return JSONValue.Member(name: item.name + path, value: item.value)
    }
}
