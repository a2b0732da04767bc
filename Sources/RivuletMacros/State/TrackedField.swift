import SwiftSyntax

/// A stored `var` with a plain name, possibly with property observers.
struct TrackedField {
    /// The name as written, with backticks if it has them.
    let name: String
    let bareName: String
    let type: TypeSyntax?
    let initializer: String?
    /// The block of `willSet` and `didSet`.
    let observers: AccessorBlockSyntax?
    let attributes: AttributeListSyntax
    let modifiers: DeclModifierListSyntax

    /// The storage's name.
    var storage: String { bareName.prefixed("_") }

    init?(_ declaration: some DeclSyntaxProtocol) {
        guard
            let variable = declaration.as(VariableDeclSyntax.self), variable.isStored,
            let binding = variable.bindings.first, variable.bindings.count == 1,
            let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier
        else { return nil }
        name = identifier.text
        bareName = identifier.bareName
        type = binding.typeAnnotation?.type.trimmed
        initializer = binding.initializer?.value.trimmedDescription
        observers = binding.accessorBlock
        attributes = variable.attributes
        modifiers = variable.modifiers
    }
}
