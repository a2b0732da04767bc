import SwiftDiagnostics
package import SwiftSyntax
package import SwiftSyntaxMacros

/// The expansion of `@Internal`, which generates no code.
///
/// It reports an error unless the attribute is on a case of an enum with `@AppEvent`.
package struct InternalMacro: PeerMacro {
    /// The generated text is written in its final form; formatting it again took half of the macros' time.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        let events = context.lexicalContext.first?.as(EnumDeclSyntax.self)
        let isEvent = declaration.is(EnumCaseDeclSyntax.self) && events?.attributes.attribute(named: "AppEvent") != nil
        if !isEvent { context.diagnose(Diagnostic(node: node, message: MacroDiagnostic.internalOfNoEvent)) }
        return []
    }
}
