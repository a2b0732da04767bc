import SwiftDiagnostics
package import SwiftSyntax
import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// The expansion of `@ObservableValue`.
///
/// The member role reports errors, once; the other roles are silent.
package struct ObservableValueMacro: MemberMacro, MemberAttributeMacro, ExtensionMacro {
    /// The generated text is written in its final form; formatting it again took half of the macros' time.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        switch ValueModel.parse(node, on: declaration, in: context.lexicalContext) {
        case .diagnostics(let diagnostics):
            for diagnostic in diagnostics { context.diagnose(diagnostic) }
            return []
        case .model(let model):
            let existing = model.signatures
            let members: [DeclSyntax] = ValueRenderer(model: model).members.map { "\(raw: $0)" }
            return members.filter { member in
                member.signature(in: model.typeName).map { !existing.contains($0) } ?? true
            }
        }
    }

    package static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [AttributeSyntax] {
        guard
            ValueModel.isTagged(member),
            case .model = ValueModel.parse(node, on: declaration, in: context.lexicalContext)
        else { return [] }
        return ["@Observing"]
    }

    package static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) -> [ExtensionDeclSyntax] {
        guard
            !protocols.isEmpty,
            case .model(let model) = ValueModel.parse(node, on: declaration, in: context.lexicalContext)
        else { return [] }
        return ExtensionDeclSyntax.list(
            of: type,
            attributes: model.availability,
            conformingTo: ["RivuletObservation.ObservableValue"]
        )
    }
}
