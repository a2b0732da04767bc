// Part of Rivulet. See README.md for the architecture.
// This file owns the expansion of @Observing: accessors that tell observers, and the storage with its property observers.

package import SwiftSyntax
package import SwiftSyntaxMacros

/// The expansion of `@Observing`, which `@ObservableValue` puts on fields that it has checked.
///
/// Nothing outside of a type, nor with `@Ignoring`. Source: spec/systems.md B-07.
package struct ObservingMacro: AccessorMacro, PeerMacro {
    /// The generated text is written as it is to stand: formatting it anew took half of the macros' time.
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
        field(declaration, in: context).map { [$0.storage] } ?? []
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
        return FieldAccessors(field: field, rules: .value)
    }
}
