package import RivuletJSON
import RivuletObjects
public import RivuletObservation

/// A view object that every session of an app has, served and streamed at `…/views/{name}`.
///
/// Its fields are those that its forwarder maps. A field from a stored key path changes as exactly as the state does; one from a computed
/// property is computed again only when something that it reads has changed.
public struct StateView<State: ObservableState>: Sendable {
    /// The name in URLs and in TypeScript, that of the object's type unless said otherwise.
    public let name: String
    /// The names of the fields, in the order of the mapping.
    public let fields: [String]
    /// The shape of the view's JSON, an object of the fields.
    package let schema: JSONSchema
    /// Why it cannot be served, if it cannot.
    package let faults: [String]
    private let make: @Sendable (State) -> any ViewInstance<State>

    /// Declares the view that a forwarder fills.
    public init<Forwarder: StateForwarding>(_ forwarder: Forwarder.Type, name: String? = nil)
    where Forwarder.ForwardedState == State {
        let name = name ?? "\(Forwarder.ViewObject.self)"
        let fields = Forwarder.forwardedFields
        self.name = name
        self.fields = fields.map(\.name)
        schema = .object(title: name, identity: ObjectIdentifier(Forwarder.ViewObject.self)) {
            fields.map { JSONSchema.Field(name: $0.name, schema: $0.schema ?? .any) }
        }
        faults = fields.compactMap { $0.fault() }
        make = { state in
            ForwardedView(Forwarder.makeObject(from: state), fields: fields, state: state)
        }
    }

    /// The view of a session that stands at this state.
    package func makeInstance(from state: State) -> any ViewInstance<State> {
        make(state)
    }
}

/// One session's view.
package protocol ViewInstance<State>: AnyObject {
    associatedtype State: ObservableState

    /// Writes what is at a key path of the view; false, with nothing written, when there is no such value.
    func encodeJSON(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool

    /// Brings the object up to date with a state that these changes led to.
    func update(from old: State, to new: State, after changes: [StateChange]) -> ViewUpdate
}

/// What an update of a view changed.
package struct ViewUpdate {
    /// The changes, by the view's own key paths; each differs in JSON.
    package let changes: [StateChange]
    /// Writes the value that was at a key path of the view before; false, with nothing written, when there was none.
    package let before: (_ path: JSONPointer, _ writer: inout JSONWriter) -> Bool
}

extension ForwardedField where State: ObservableState {
    /// Why a session must not serve the field.
    fileprivate func fault() -> String? {
        if schema == nil { return "the field \"\(name)\" has a type without JSON; make it JSONCodable or Codable" }
        guard let steps, steps.count == owners.count else {
            return "the key path of the field \"\(name)\" begins with another name than in \"from:\"; write the same"
        }
        guard zip(owners, steps).contains(where: { omits($1, in: $0) }) else { return nil }
        let path = JSONPointer(tokens: steps)
        return "the field \"\(name)\" would show \(path), which is in no JSON; leave it out of the mapping"
    }

    /// Whether a property is a field in no JSON; the type that has it tells, by whatever way a key path came to it.
    private func omits(_ property: String, in owner: Any.Type) -> Bool {
        if let optional = owner as? any OptionalType.Type { return omits(property, in: optional.wrapped) }
        guard let state = owner as? any ObservableState.Type else { return false }
        return state._$fields.contains { $0.isOmitted && $0.name == property }
    }
}

/// An optional whose type is not named.
private protocol OptionalType {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
    static var wrapped: Any.Type { Wrapped.self }
}

extension Array {
    /// The shape of all views by their names.
    package func schema<State>() -> JSONSchema where Element == StateView<State> {
        .object(title: "Views", identity: nil) { map { JSONSchema.Field(name: $0.name, schema: $0.schema) } }
    }

    /// Why they cannot be served, if they cannot.
    package func fault<State>() -> String? where Element == StateView<State> {
        for view in self {
            if view.name.wholeMatch(of: /[A-Za-z][A-Za-z0-9_-]{0,63}/) == nil {
                return "the view name \"\(view.name)\" cannot be in a URL; use [A-Za-z][A-Za-z0-9_-]{0,63}"
            }
            if count(where: { $0.name == view.name }) > 1 { return "two views are named \"\(view.name)\"; name one" }
            if let fault = view.faults.first { return "view \"\(view.name)\": \(fault)" }
        }
        return nil
    }
}
