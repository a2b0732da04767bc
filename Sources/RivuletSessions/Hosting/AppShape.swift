import RivuletEngine
package import RivuletJSON
package import RivuletObservation
import RivuletSchema

/// What an app reads and writes, without its Swift types.
package struct AppShape: Sendable {
    /// The most fields of a state that have a place of their own; further ones are read by what holds them.
    private static let fieldsMax = 256

    /// A key path of the state.
    package struct Place: Sendable {
        /// A token `*` stands for the id of an element.
        package let tokens: [String]
        /// The shape of the value that is there.
        package let schema: JSONSchema
        /// The shape of the values that can be written there; nil when nothing is bound to it.
        package var bound: JSONSchema?
        /// The JSON that a new session has there; nil when it has nothing there.
        package let standard: JSONValue?
    }

    package let name: String
    package let state: JSONSchema
    /// The shape of what can be dispatched; describe it in the direction `read`.
    package let event: JSONSchema
    package let events: [EventCase]
    /// The views, in the order of their declaration.
    package let views: [(name: String, schema: JSONSchema)]
    /// What all sessions share.
    package let shared: SharedResources
    /// The whole state, its fields as far as they are served, each followed by the elements that it keeps by id, and what is bound besides.
    package let places: [Place]

    init<Definition: AppDefinition>(
        _ definition: Definition,
        bindings: StateBindings<Definition.Event>,
        views: [StateView<Definition.State>],
        shared: SharedResources
    ) {
        name = definition.name
        self.shared = shared
        self.views = views.map { ($0.name, $0.schema) }
        let (state, standard) = (Definition.State.jsonSchema, definition.defaultState)
        self.state = state
        event = Definition.Event.acceptedSchema
        events = Definition.Event.eventCases
        let fields = FieldDescription.all(of: standard).lazy.filter { !$0.field.isOmitted }
            .flatMap { field in
                (0...field.field.schema.keyedDepth).map { field.tokens + Array(repeating: "*", count: $0) }
            }
            .prefix(Self.fieldsMax)
        let bound = bindings.places
        let document = try? JSONValue(encoding: standard)
        let served = [[]] + fields
        places = (served + bound.map(\.tokens).filter { !served.contains($0) }).compactMap { tokens in
            guard let schema = state.schema(at: tokens[...]) else { return nil }
            return Place(
                tokens: tokens,
                schema: schema,
                bound: bound.first { $0.tokens == tokens }?.schema,
                standard: document?[JSONPointer(tokens: tokens)]
            )
        }
    }
}
