package import SwiftSyntax
package import SwiftSyntaxMacros

/// The expansion of `@Observing`, which `@ObservableValue` puts on fields that it has checked.
///
/// It generates nothing outside of a type, or with `@Ignoring`. In a class, which cannot have `@ObservableValue`, each
/// field has a registrar of its own. Source: <Tests/Rows/Systems.md#b-07>.
package struct ObservingMacro: AccessorMacro, PeerMacro {
    /// The generated text is written in its final form; formatting it again took half of the macros' time.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [AccessorDeclSyntax] {
        field(declaration, in: context)?.accessors ?? []
    }

    package static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        field(declaration, in: context)?.peers ?? []
    }

    private static func field(
        _ declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> FieldAccessors? {
        guard
            let type = context.lexicalContext.first,
            type.is(StructDeclSyntax.self) || type.is(ClassDeclSyntax.self),
            let variable = declaration.as(VariableDeclSyntax.self),
            ValueModel.isObservable(variable),
            let field = TrackedField(variable)
        else { return nil }
        return FieldAccessors(
            field: field,
            rules: type.is(ClassDeclSyntax.self) ? .object : .value,
            isOfOpenType: context.lexicalContext.contains(where: isOpen) || field.type?.isExistential == true
        )
    }

    /// Returns true if a type in this context may depend on type parameters; the type of an extension is not known
    /// here.
    private static func isOpen(_ context: Syntax) -> Bool {
        context.is(ExtensionDeclSyntax.self)
            || context.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
    }
}

extension TypeSyntax {
    /// True if values of different types can have this type, judged by its spelling.
    fileprivate var isExistential: Bool {
        tokens(viewMode: .sourceAccurate).contains { ["any", "Any", "AnyObject"].contains($0.text) }
    }
}
