package import SwiftSyntax
package import SwiftSyntaxMacros

/// The expansion of `@ObservationStateTracked`, which `@ObservableState` puts on fields that it has checked.
package struct ObservationStateTrackedMacro: AccessorMacro {
    /// The generated text is written in its final form; formatting it again took half of the macros' time.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [AccessorDeclSyntax] {
        guard let field = TrackedField(declaration), field.observers == nil else { return [] }
        return FieldAccessors(field: field, rules: .state).accessors
    }
}
