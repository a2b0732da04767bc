/// A type that makes a view object from a state, and updates it.
///
/// A hosted session needs nothing else from a forwarder. `@StateForwarder` generates the members, or the app implements
/// them.
public protocol StateForwarding: SendableMetatype {
    /// The state with the values.
    associatedtype ForwardedState
    /// The object that shows the values.
    associatedtype ViewObject: ObservableObject

    /// Returns a new object with the state's values.
    static func makeObject(from state: ForwardedState) -> ViewObject

    /// Reads all of the state's values, then assigns those that differ from the object's values.
    static func forward(_ state: ForwardedState, to receiver: ViewObject)

    /// The forwarded fields, in the order of the mapping; a session serves and streams these fields.
    static var forwardedFields: [ForwardedField<ForwardedState, ViewObject>] { get }
}

/// Makes a class the `StateListener` of a manager; it keeps an object's fields equal to values of the state.
///
/// `mapping` is an array of pairs: a key path of the state, also of a computed property, and a key path of the
/// object. The object's type has an initialiser with these fields, in this order, under their names. The values are
/// Equatable. The names `AppStateHolder` and `AppUIStateManager` must be type aliases in scope: `typealias
/// AppStateHolder = StateHolder<MyPersistent, MyTransient>`, and so on. The class is made a ``StateForwarding`` too.
/// Source: <Tests/Rows/Systems.md#d-24> to D-27.
@attached(
    member,
    names: named(receiver),
    named(zombie),
    named(stateManager),
    named(init),
    named(getStateObject),
    named(updateState),
    named(_$receiver),
    named(makeObject),
    named(forward),
    named(forwardedFields)
)
@attached(extension, conformances: StateForwarding)
public macro StateForwarder(for object: Any.Type, mapping: [(AnyKeyPath, AnyKeyPath)]) =
    #externalMacro(module: "RivuletMacros", type: "StateForwarderMacro")

/// Makes a type the ``StateForwarding`` of a hosted app's state, which may have any type.
///
/// It needs no state manager and no listener.
///
/// The type can be empty: `@StateForwarder(for: CounterView.self, from: CounterApp.State.self, mapping: […]) struct
/// CounterForwarder {}`. The object needs an initialiser with the mapping's labels, in its order. The type must not be
/// an enum. For an enum with a mapping that does not fit the object, the compiler of Swift 6.3 crashes without an error
/// message.
@attached(member, names: named(makeObject), named(forward), named(forwardedFields))
@attached(extension, conformances: StateForwarding)
public macro StateForwarder(for object: Any.Type, from state: Any.Type, mapping: [(AnyKeyPath, AnyKeyPath)]) =
    #externalMacro(module: "RivuletMacros", type: "StateForwarderMacro")

/// The same as ``StateForwarder(for:mapping:)``, with unlabelled arguments.
@attached(
    member,
    names: named(receiver),
    named(zombie),
    named(stateManager),
    named(init),
    named(getStateObject),
    named(updateState),
    named(_$receiver),
    named(makeObject),
    named(forward),
    named(forwardedFields)
)
@attached(extension, conformances: StateForwarding)
public macro StateForwarder(_ object: Any.Type, _ mapping: [(AnyKeyPath, AnyKeyPath)]) =
    #externalMacro(module: "RivuletMacros", type: "StateForwarderMacro")

/// Refused: there is nothing to forward.
@attached(member)
public macro StateForwarder() = #externalMacro(module: "RivuletMacros", type: "StateForwarderMacro")

/// Refused: there is no mapping.
@attached(member)
public macro StateForwarder(for object: Any.Type) =
    #externalMacro(module: "RivuletMacros", type: "StateForwarderMacro")

/// Refused: there is no object to forward to.
@attached(member)
public macro StateForwarder(mapping: Any) = #externalMacro(module: "RivuletMacros", type: "StateForwarderMacro")

/// Refused: the mapping is not an array of pairs.
@attached(member)
public macro StateForwarder(for object: Any.Type, mapping: Any) =
    #externalMacro(module: "RivuletMacros", type: "StateForwarderMacro")

/// Refused: the mapping is not an array of pairs.
@attached(member)
public macro StateForwarder(_ object: Any.Type, _ mapping: Any) =
    #externalMacro(module: "RivuletMacros", type: "StateForwarderMacro")
