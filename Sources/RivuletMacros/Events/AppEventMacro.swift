import SwiftDiagnostics
package import SwiftSyntax
import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// The expansion of `@AppEvent`.
///
/// The member role reports errors, once; the extension role is silent.
package struct AppEventMacro: MemberMacro, ExtensionMacro {
    /// The generated text is written in its final form; formatting it again took half of the macros' time.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        switch EnumModel.parse(node, on: declaration, for: .events, in: context.lexicalContext) {
        case .diagnostics(let diagnostics):
            for diagnostic in diagnostics { context.diagnose(diagnostic) }
            return []
        case .model(let model):
            return EventRenderer(model: model).members.map(DeclSyntax.text)
        }
    }

    package static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) -> [ExtensionDeclSyntax] {
        guard
            case .model(let model) = EnumModel.parse(node, on: declaration, for: .events, in: context.lexicalContext)
        else { return [] }
        return ExtensionDeclSyntax.list(
            of: type,
            conformingTo: protocols.map(\.trimmedDescription),
            members: EventRenderer(model: model).extensionMembers
        )
    }
}
