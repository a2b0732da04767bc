package import RivuletJSON
import RivuletObjects
public import RivuletObservation

/// A view object of every session of an app, served and streamed at `…/views/{name}`.
///
/// The forwarder's mapping gives its fields. A field with a stored key path has exactly the changes of the state. A
/// field with a computed property is computed again only if something that it read has changed.
public struct StateView<State: ObservableState>: Sendable {
    /// The name in URLs and in TypeScript; by default the name of the object's type.
    public let name: String
    /// The names of the fields, in the order of the mapping.
    public let fields: [String]
    /// The shape of the view's JSON, an object of the fields.
    package let schema: JSONSchema
    /// The reasons that the view cannot be served; empty if it can.
    package let faults: [String]
    private let make: @Sendable (State) -> any ViewInstance<State>

    /// Creates the view that a forwarder fills.
    public init<Forwarder: StateForwarding>(_ forwarder: Forwarder.Type, name: String? = nil)
    where Forwarder.ForwardedState == State {
        let name = name ?? "\(Forwarder.ViewObject.self)"
        let fields = Forwarder.forwardedFields
        self.name = name
        self.fields = fields.map(\.name)
        let schema = JSONSchema.object(title: name, identity: ObjectIdentifier(Forwarder.ViewObject.self)) {
            fields.map { JSONSchema.Field(name: $0.name, schema: $0.schema ?? .any) }
        }
        self.schema = schema
        faults = fields.compactMap { $0.fault() }
        make = { state in
            ForwardedView(Forwarder.makeObject(from: state), fields: fields, schema: schema, state: state)
        }
    }

    /// Creates the view of a session with this state.
    package func makeInstance(from state: State) -> any ViewInstance<State> {
        make(state)
    }
}

/// One session's view.
package protocol ViewInstance<State>: AnyObject {
    associatedtype State: ObservableState

    /// The shape of the view's JSON.
    var schema: JSONSchema { get }

    /// Writes the value at a key path of the view.
    ///
    /// Returns false and writes nothing if there is no such value.
    func encodeJSON(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool

    /// Updates the object to a state that these changes led to.
    func update(from old: State, to new: State, after changes: [StateChange]) -> ViewUpdate
}

/// The changes of a view's update.
package struct ViewUpdate {
    /// The changes, with the view's own key paths.
    ///
    /// The JSON of each changed value differs from the JSON before the update.
    package let changes: [StateChange]
    /// Writes the value that the view had at a key path before the update.
    ///
    /// Returns false and writes nothing if there was no value.
    package let before: (_ path: JSONPointer, _ writer: inout JSONWriter) -> Bool
}

extension ForwardedField where State: ObservableState {
    /// Returns the reason that a session must not serve the field; nil if there is none.
    fileprivate func fault() -> String? {
        if schema == nil { return "the field \"\(name)\" has a type without JSON; make it JSONCodable or Codable" }
        guard let steps, steps.count == owners.count else {
            return "the key path of the field \"\(name)\" begins with another type name than \"from:\"; use that name"
        }
        guard zip(owners, steps).contains(where: { omits($1, in: $0) }) else { return nil }
        let path = JSONPointer(tokens: steps)
        return "the field \"\(name)\" would show \(path), which is in no JSON; leave it out of the mapping"
    }

    /// Returns true if a property is an omitted field.
    ///
    /// The type that declares the property decides, for any key path to it.
    private func omits(_ property: String, in owner: Any.Type) -> Bool {
        if let optional = owner as? any OptionalType.Type { return omits(property, in: optional.wrapped) }
        guard let state = owner as? any ObservableState.Type else { return false }
        return state._$fields.contains { $0.isOmitted && $0.name == property }
    }
}

/// An optional of any type.
private protocol OptionalType {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
    static var wrapped: Any.Type { Wrapped.self }
}

extension Array {
    /// Returns the shape of all views by their names.
    package func schema<State>() -> JSONSchema where Element == StateView<State> {
        .object(title: "Views", identity: nil) { map { JSONSchema.Field(name: $0.name, schema: $0.schema) } }
    }

    /// Returns the reason that the views cannot be served; nil if they can.
    package func fault<State>() -> String? where Element == StateView<State> {
        for view in self {
            if view.name.wholeMatch(of: /[A-Za-z][A-Za-z0-9_-]{0,63}/) == nil {
                return "the view name \"\(view.name)\" cannot be in a URL; use [A-Za-z][A-Za-z0-9_-]{0,63}"
            }
            if count(where: { $0.name == view.name }) > 1 { return "two views are named \"\(view.name)\"; rename one" }
            if let fault = view.faults.first { return "view \"\(view.name)\": \(fault)" }
        }
        return nil
    }
}
