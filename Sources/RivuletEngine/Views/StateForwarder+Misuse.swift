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

/// Refused: the mapping is no array of pairs.
@attached(member)
public macro StateForwarder(for object: Any.Type, mapping: Any) =
    #externalMacro(module: "RivuletMacros", type: "StateForwarderMacro")

/// Refused: the mapping is no array of pairs.
@attached(member)
public macro StateForwarder(_ object: Any.Type, _ mapping: Any) =
    #externalMacro(module: "RivuletMacros", type: "StateForwarderMacro")
