import RivuletEngine
package import RivuletJSON
package import RivuletObservation
import RivuletSchema

/// The shape of the values that an app reads and writes, without its Swift types.
package struct AppShape: Sendable {
    /// The most key paths of fields in ``locations``.
    ///
    /// A field beyond this number has no location of its own. Clients read it as a part of the value that contains it.
    private static let fieldsMax = 256

    /// A key path of the state.
    package struct Location: Sendable {
        /// The tokens of the key path; a token `*` stands for the id of an element.
        package let tokens: [String]
        /// The shape of the value at the key path.
        package let schema: JSONSchema
        /// The shape of the values that can be written at the key path; nil if it has no binding.
        package var bound: JSONSchema?
        /// The JSON that a new session has at the key path; nil if it has no value there.
        package let defaultValue: JSONValue?
    }

    package let name: String
    package let state: JSONSchema
    /// The shape of the events that clients can dispatch; encode it with the direction `.read`.
    package let event: JSONSchema
    /// The cases of the events that clients can dispatch.
    package let events: [EventCase]
    /// The names of all events, also of those that only the app dispatches.
    package let eventNames: Set<String>
    /// The views, in the order of their declaration.
    package let views: [(name: String, schema: JSONSchema)]
    /// The resources that all sessions share.
    package let shared: SharedResources
    /// The key paths of the state, in a fixed order.
    ///
    /// The whole state is first. Then comes each field that is not omitted, followed by its keyed elements. The bound
    /// paths that are not in the list yet come last.
    package let locations: [Location]

    init<Definition: AppDefinition>(
        _ definition: Definition,
        bindings: StateBindings<Definition.Event>,
        views: [StateView<Definition.State>],
        shared: SharedResources
    ) {
        name = definition.name
        self.shared = shared
        self.views = views.map { ($0.name, $0.schema) }
        let (state, defaultValue) = (Definition.State.jsonSchema, definition.defaultState)
        self.state = state
        event = Definition.Event.acceptedSchema
        events = Definition.Event.clientCases
        eventNames = Set(Definition.Event.eventCases.map(\.name))
        let fields = FieldDescription.all(of: defaultValue).lazy.filter { !$0.field.isOmitted }
            .flatMap { field in
                (0...field.field.schema.keyedDepth).map { field.tokens + Array(repeating: "*", count: $0) }
            }
            .prefix(Self.fieldsMax)
        let bound = bindings.targets
        let document = try? JSONValue(encoding: defaultValue)
        let served = [[]] + fields
        locations = (served + bound.map(\.tokens).filter { !served.contains($0) }).compactMap { tokens in
            guard let schema = state.schema(at: tokens[...]) else { return nil }
            return Location(
                tokens: tokens,
                schema: schema,
                bound: bound.first { $0.tokens == tokens }?.schema,
                defaultValue: document?[JSONPointer(tokens: tokens)]
            )
        }
    }
}
