public import RivuletJSON
public import RivuletObjects
package import RivuletObservation

/// A field of a view, with its key path in the state and its property in the object.
///
/// `@StateForwarder` generates these fields.
public struct ForwardedField<State, Object: ObservableObject>: Sendable {
    /// The name in the object and in JSON.
    public let name: String
    /// The path of the value in the state's JSON; nil if a property of the key path is not a field of a state.
    ///
    /// The types along the key path decide this. The state's schema does not suffice, because it accepts any property
    /// name as an element's id or a dictionary's key.
    package let storedPath: JSONPointer?
    /// The properties that the key path goes through, `*` for a subscript; nil if they are unknown.
    package let steps: [String]?
    /// The types that have the properties of the steps.
    ///
    /// The list is shorter than `steps` if some of the types are unknown.
    package let owners: [Any.Type]
    /// The shape of the value's JSON; nil for a value without JSON.
    package let schema: JSONSchema?
    private let box: any FieldBox<State, Object>

    /// Describes a value with JSON.
    public init<Value: Equatable & Sendable & JSONCodable>(
        _ name: String,
        _ statePath: [String]?,
        _ state: any KeyPath<State, Value> & Sendable,
        _ object: any ReferenceWritableKeyPath<Object, Value> & Sendable,
        through steps: [String]? = nil,
        owners: [PartialKeyPath<State>] = []
    ) {
        self.init(name, statePath, steps, owners, Value.jsonSchema, state, object) { $0.encodeJSON(at: $1, into: &$2) }
    }

    /// Describes a value that is only Codable.
    @_disfavoredOverload
    public init<Value: Equatable & Sendable & Codable>(
        _ name: String,
        _ statePath: [String]?,
        _ state: any KeyPath<State, Value> & Sendable,
        _ object: any ReferenceWritableKeyPath<Object, Value> & Sendable,
        through steps: [String]? = nil,
        owners: [PartialKeyPath<State>] = []
    ) {
        self.init(name, statePath, steps, owners, CodableJSON.jsonSchema(of: Value.self), state, object) {
            CodableJSON.encode($0, at: $1, into: &$2)
        }
    }

    /// Describes a value without JSON, which no session can serve.
    @_disfavoredOverload
    public init<Value: Equatable & Sendable>(
        _ name: String,
        _ statePath: [String]?,
        _ state: any KeyPath<State, Value> & Sendable,
        _ object: any ReferenceWritableKeyPath<Object, Value> & Sendable,
        through steps: [String]? = nil,
        owners: [PartialKeyPath<State>] = []
    ) {
        self.init(name, statePath, steps, owners, nil, state, object) { _, _, _ in false }
    }

    private init<Value: Equatable & Sendable>(
        _ name: String,
        _ statePath: [String]?,
        _ steps: [String]?,
        _ owners: [PartialKeyPath<State>],
        _ schema: JSONSchema?,
        _ state: any KeyPath<State, Value> & Sendable,
        _ object: any ReferenceWritableKeyPath<Object, Value> & Sendable,
        _ encode: @escaping @Sendable (Value, ArraySlice<String>, inout JSONWriter) -> Bool
    ) {
        let owners: [Any.Type] = [State.self] + owners.map { type(of: $0).valueType }
        let isStored = statePath?.count == owners.count && zip(owners, statePath ?? []).allSatisfy(Self.isField)
        self.name = name
        self.storedPath = isStored ? statePath.map(JSONPointer.init(tokens:)) : nil
        self.steps = steps ?? statePath
        self.owners = owners
        self.schema = schema
        box = TypedFieldBox(state: state, object: object, encode: encode)
    }

    /// Returns true if a property is a field of a state.
    ///
    /// The variables of an enum's cases are computed properties and no fields.
    private static func isField(of owner: Any.Type, _ property: String) -> Bool {
        guard let state = owner as? any ObservableState.Type else { return false }
        return state._$position(of: property) != nil
    }

    /// Writes the value at a path below the object's field.
    ///
    /// Returns false and writes nothing if there is no such value.
    package func encodeJSON(of object: Object, at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool {
        box.encodeJSON(of: object, at: path, into: &writer)
    }

    /// Returns true if the object's value equals the state's.
    package func isEqual(_ object: Object, to state: State) -> Bool {
        box.isEqual(object, to: state)
    }

    /// Assigns the state's value to the object.
    package func assign(_ state: State, to object: Object) {
        box.assign(state, to: object)
    }

    /// Returns the value computed from the state, with a record of the key paths that the computation reads.
    package func derived(from state: State) -> any DerivedField<State, Object> where State: ObservableState {
        box.accept(DerivedFieldMaker(state: state))
    }
}

/// A value of a view that is computed from the state, and computed again only if something that it read has changed.
package protocol DerivedField<State, Object> {
    associatedtype State
    associatedtype Object

    /// Computes the value again if a change touches what it read, and assigns the value if it differs from the
    /// object's.
    ///
    /// - Returns: True if the value was assigned.
    mutating func update(_ object: Object, to state: State, after changes: [StateChange]) -> Bool
}

/// A field with any type of value.
private protocol FieldBox<State, Object>: Sendable {
    associatedtype State
    associatedtype Object

    func encodeJSON(of object: Object, at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool
    func isEqual(_ object: Object, to state: State) -> Bool
    func assign(_ state: State, to object: Object)
    func accept<Visitor: FieldVisitor<State, Object>>(_ visitor: Visitor) -> Visitor.Answer
}

/// An operation on a field that needs the static type of the field's value.
private protocol FieldVisitor<State, Object> {
    associatedtype State
    associatedtype Object
    associatedtype Answer

    func visit<Value: Equatable & Sendable>(
        _ state: any KeyPath<State, Value> & Sendable,
        _ object: any ReferenceWritableKeyPath<Object, Value> & Sendable
    ) -> Answer
}

private struct TypedFieldBox<State, Object: ObservableObject, Value: Equatable & Sendable>: FieldBox {
    let state: any KeyPath<State, Value> & Sendable
    let object: any ReferenceWritableKeyPath<Object, Value> & Sendable
    let encode: @Sendable (Value, ArraySlice<String>, inout JSONWriter) -> Bool

    func encodeJSON(of object: Object, at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool {
        encode(object[keyPath: self.object], path, &writer)
    }

    func isEqual(_ object: Object, to state: State) -> Bool {
        object[keyPath: self.object] == state[keyPath: self.state]
    }

    func assign(_ state: State, to object: Object) {
        object[keyPath: self.object] = state[keyPath: self.state]
    }

    func accept<Visitor: FieldVisitor<State, Object>>(_ visitor: Visitor) -> Visitor.Answer {
        visitor.visit(state, object)
    }
}

private struct DerivedFieldMaker<State: ObservableState, Object: ObservableObject>: FieldVisitor {
    let state: State

    func visit<Value: Equatable & Sendable>(
        _ path: any KeyPath<State, Value> & Sendable,
        _ object: any ReferenceWritableKeyPath<Object, Value> & Sendable
    ) -> any DerivedField<State, Object> {
        TypedDerivedField(value: state.observe { $0[keyPath: path] }, object: object)
    }
}

private struct TypedDerivedField<State: ObservableState, Object: ObservableObject, Value: Equatable & Sendable>:
    DerivedField
{
    var value: Derived<State, Value>
    let object: any ReferenceWritableKeyPath<Object, Value> & Sendable

    mutating func update(_ object: Object, to state: State, after changes: [StateChange]) -> Bool {
        guard value.update(to: state, after: changes), object[keyPath: self.object] != value.value else { return false }
        object[keyPath: self.object] = value.value
        return true
    }
}
