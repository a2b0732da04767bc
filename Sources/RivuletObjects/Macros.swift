/// Makes a stored `var` of an ``ObservableObject`` a field that tells before each write, with a ``Binding`` under `$` and its name.
///
/// The value's type must be Sendable and stand at the field, unless its value is a literal or `Type(…)`. No `willSet` or `didSet`.
/// The storage is a ``Published``. Source: <Tests/Rows/Systems.md#c-05> to C-07, C-10.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_), prefixed(`$`))
public macro Published() = #externalMacro(module: "RivuletMacros", type: "PublishedMacro")
