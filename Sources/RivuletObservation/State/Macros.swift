import RivuletJSON

/// Makes a struct an ``ObservableState``, with every stored `var` as a tracked field, or an enum an ``ObservableEnum``.
///
/// A struct has at most 64 fields and no `willSet`, `didSet`, `lazy` or property wrappers. In place of a property
/// wrapper, use `@Wrapped`.
///
/// A case of an enum with a single value without a label, `case editing(Draft)`, gets a variable of its name, a
/// `Draft?`. The variable is for edits in place: `state.mode.editing?.city = "x"`. The variable is nil while the enum
/// has another case. Setting a value changes the enum to this case. Setting nil while the enum has this case changes
/// the enum to its first case without values; an enum without such a case does not change. If the enum declares a
/// member of that name itself, the case gets no variable. Enums with raw values need no macro: they conform to
/// `JSONCodable`.
@attached(member, names: named(_$observationRegistrar), named(_$Index), arbitrary)
@attached(memberAttribute)
@attached(
    extension,
    conformances: ObservableState,
    ObservableEnum,
    // The inherited protocols are listed too: the compiler asks a macro only for conformances that it announces.
    StateNode,
    Generated.StateBearing,
    JSONCodable,
    Encodable,
    Decodable,
    names: named(_$fields),
    named(_$encodeDefault(of:into:)),
    named(_$cases),
    named(_$collect(from:to:serial:into:)),
    named(_$editPayload(_:)),
    named(_$collect(from:to:into:)),
    named(_$edit(_:_:json:)),
    named(_$settle()),
    named(_$position(of:)),
    named(encodeJSON(into:)),
    named(_$encode(_:into:)),
    named(init(json:))
)
public macro ObservableState() = #externalMacro(module: "RivuletMacros", type: "ObservableStateMacro")

/// Tracks one field; ``ObservableState()`` puts it on every stored `var`.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
public macro ObservationStateTracked() =
    #externalMacro(module: "RivuletMacros", type: "ObservationStateTrackedMacro")

/// Leaves a stored `var` alone: it is not tracked, in no JSON, and needs an initial value.
@attached(peer)
public macro ObservationStateIgnored() = #externalMacro(module: "RivuletMacros", type: "MarkerMacro")

/// Keeps a field in memory: tracked and visible to clients, but never on disk, so it has its default again after a
/// restart.
@attached(peer)
public macro Transient() = #externalMacro(module: "RivuletMacros", type: "MarkerMacro")

/// Reports the replacement of a nested state field by field, and not as one change.
///
/// The two halves of an app's state are reported in this way.
@attached(peer)
public macro Replaceable() = #externalMacro(module: "RivuletMacros", type: "MarkerMacro")

/// Keeps the payload of an event's case out of logs.
@attached(peer)
public macro Sensitive() = #externalMacro(module: "RivuletMacros", type: "MarkerMacro")

/// Keeps an event's case to the app: effects and the program's own code dispatch it, and clients must not.
///
/// If a client dispatches such an event, the server answers 403. The event is in no schema of requests and in no
/// TypeScript type. It is in the log like any other event.
@attached(peer)
public macro Internal() = #externalMacro(module: "RivuletMacros", type: "InternalMacro")

/// Keeps a field in a wrapper, an ``ObservableWrapper``; the long form of `@Wrapped`.
///
/// `@ObservableStateWrapper(Box<[Int]>.self) @ObservationStateIgnored var history: [Int] = []`. The field needs an
/// explicit type. `@ObservationStateIgnored` must follow this attribute. More arguments are accepted and ignored.
/// Source: <Tests/Rows/Systems.md#a-01>.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_))
public macro ObservableStateWrapper(_ wrapper: Any, _ configuration: Any...) =
    #externalMacro(module: "RivuletMacros", type: "ObservableStateWrapperMacro")

/// Keeps a field in a configured wrapper; `config` is evaluated at every write.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_))
public macro ObservableStateWrapper(_ wrapper: Any, config: Any) =
    #externalMacro(module: "RivuletMacros", type: "ObservableStateWrapperMacro")

/// Keeps a field in a configured wrapper, with type arguments that follow from the configuration: `Clamped.self,
/// config: 0...100`.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_))
public macro ObservableStateWrapper<Wrapper: ObservableWrapper>(_ wrapper: Wrapper.Type, config: Wrapper.Config) =
    #externalMacro(module: "RivuletMacros", type: "ObservableStateWrapperMacro")

/// Keeps a field in a wrapper, and gives it a `$field` when `projected` is the literal `true`.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_), prefixed(`$`))
public macro ObservableStateWrapper(_ wrapper: Any, projected: Bool) =
    #externalMacro(module: "RivuletMacros", type: "ObservableStateWrapperMacro")

/// Keeps a field in a configured wrapper, and gives it a `$field` when `projected` is the literal `true`.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_), prefixed(`$`))
public macro ObservableStateWrapper(_ wrapper: Any, projected: Bool, config: Any) =
    #externalMacro(module: "RivuletMacros", type: "ObservableStateWrapperMacro")

/// Keeps a field in a wrapper: `@Wrapped(Boxed.self) var history: [Int] = []`.
///
/// The type of the field completes the kind: here the wrapper is a `Box<[Int]>`. The type may follow from the initial
/// value if that is a literal or `Type(…)`. The other kinds are ``Omitted``, ``Presented``, a ``WrapperKind`` of your
/// own, and a wrapper that is not generic. With the literal `projected: true` the field has a `$field`.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_), prefixed(`$`))
public macro Wrapped<Kind: WrapperKind>(_ kind: Kind.Type, projected: Bool = false) =
    #externalMacro(module: "RivuletMacros", type: "ObservableStateWrapperMacro")

/// Keeps a field in a wrapper of a kind with a configuration, which is evaluated at every write.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_), prefixed(`$`))
public macro Wrapped<Kind: WrapperKind, Config>(_ kind: Kind.Type, _ config: Config, projected: Bool = false) =
    #externalMacro(module: "RivuletMacros", type: "ObservableStateWrapperMacro")

/// Keeps a field in a wrapper that has no configuration.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_), prefixed(`$`))
public macro Wrapped<Wrapper: ObservableWrapper>(_ wrapper: Wrapper.Type, projected: Bool = false) =
    #externalMacro(module: "RivuletMacros", type: "ObservableStateWrapperMacro")
where Wrapper.Config == Void

/// Keeps a field in a configured wrapper: `@Wrapped(Clamped.self, 0...100) var percent = 50`.
///
/// The configuration is evaluated at every write.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_), prefixed(`$`))
public macro Wrapped<Wrapper: ObservableWrapper>(
    _ wrapper: Wrapper.Type,
    _ config: Wrapper.Config,
    projected: Bool = false
) = #externalMacro(module: "RivuletMacros", type: "ObservableStateWrapperMacro")

/// Makes a struct an ``ObservableValue``, with every stored `var` observable by itself.
///
/// The struct has at most 64 fields, including those in all branches of an `#if`. It has no `lazy`, `weak`, `unowned`
/// or property wrappers. `willSet` and `didSet` stay and run at every write, as in a plain struct. The macro generates
/// no member that the struct declares itself. Declare `shouldNotifyObservers(_:_:)` for the type of a field to decide
/// which writes to such fields notify observers. Codable uses the declared names, by a generated `CodingKeys`. A
/// `CodingKeys` of your own belongs in the struct, not in an extension, and names the storages
/// (`case _count = "count"`).
/// Source: <Tests/Rows/Systems.md#b-02> to B-06.
@attached(
    member,
    names: named(_$id),
    named(_$observationRegistrar),
    named(copy),
    named(access),
    named(withMutation),
    named(shouldNotifyObservers),
    named(_$Index),
    named(_$position),
    named(CodingKeys)
)
@attached(memberAttribute)
@attached(extension, conformances: ObservableValue)
public macro ObservableValue() = #externalMacro(module: "RivuletMacros", type: "ObservableValueMacro")

/// Observes one field; ``ObservableValue()`` puts it on every stored `var`.
///
/// In a class, put it on a `var` by hand; nothing else is needed, because each field then has its own observers.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_), prefixed(_$observing_))
public macro Observing() = #externalMacro(module: "RivuletMacros", type: "ObservingMacro")

/// Leaves a stored `var` of an observable value alone: its changes notify no observers.
@attached(peer)
public macro Ignoring() = #externalMacro(module: "RivuletMacros", type: "MarkerMacro")
