// Part of Rivulet. See README.md for the architecture.
// This file owns the expansion of @ObservableState: the mark, the tracked fields, and the field table with its JSON.

import SwiftDiagnostics
package import SwiftSyntax
import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// The expansion of `@ObservableState`.
///
/// Faults are reported by the member role, once; the other roles are silent.
package struct ObservableStateMacro: MemberMacro, MemberAttributeMacro, ExtensionMacro {
    package static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        switch StateModel.parse(node, on: declaration, in: context.lexicalContext) {
        case .diagnostics(let diagnostics):
            for diagnostic in diagnostics { context.diagnose(diagnostic) }
            let model = StateModel.recover(node, on: declaration, in: context.lexicalContext)
            return model.map(members) ?? []
        case .model(let model):
            return members(model)
        }
    }

    private static func members(_ model: StateModel) -> [DeclSyntax] {
        StateRenderer(model: model).members.map { "\(raw: $0)" }
    }

    package static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [AttributeSyntax] {
        guard
            StateModel.isTracked(member),
            StateModel.recover(node, on: declaration, in: context.lexicalContext) != nil
        else { return [] }
        return ["@ObservationStateTracked"]
    }

    package static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard let model = StateModel.recover(node, on: declaration, in: context.lexicalContext) else { return [] }
        let names = protocols.map(\.trimmedDescription).joined(separator: ", ")
        let conformance = names.isEmpty ? "" : ": \(names)"
        let members = StateRenderer(model: model).extensionMembers.joined(separator: "\n\n")
        let text: DeclSyntax = """
            extension \(type.trimmed)\(raw: conformance) {
            \(raw: members)
            }
            """
        return text.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }
}
