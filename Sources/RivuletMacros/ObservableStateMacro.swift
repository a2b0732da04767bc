// Part of Rivulet. See README.md for the architecture.
// This file owns the expansion of @ObservableState: the tracked fields of a struct or the payloads of an enum, with their JSON.

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
        switch Expansion.parse(node, on: declaration, in: context.lexicalContext) {
        case .diagnostics(let diagnostics):
            for diagnostic in diagnostics { context.diagnose(diagnostic) }
            return []
        case .model(let expansion):
            return expansion.members.map { "\(raw: $0)" }
        }
    }

    package static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [AttributeSyntax] {
        guard
            StateModel.isTracked(member),
            case .model = StateModel.parse(node, on: declaration, in: context.lexicalContext)
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
        guard case .model(let expansion) = Expansion.parse(node, on: declaration, in: context.lexicalContext) else {
            return []
        }
        let names = protocols.map(\.trimmedDescription)
            .filter { !$0.hasSuffix(expansion.otherProtocol) }
            .joined(separator: ", ")
        let conformance = names.isEmpty ? "" : ": \(names)"
        let text: DeclSyntax = """
            extension \(type.trimmed)\(raw: conformance) {
            \(raw: expansion.extensionMembers.joined(separator: "\n\n"))
            }
            """
        return text.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }
}

/// What is generated for a type.
private struct Expansion {
    let members: [String]
    let extensionMembers: [String]
    /// The protocol that is for the other kind of type.
    let otherProtocol: String

    static func parse(
        _ node: AttributeSyntax,
        on declaration: some DeclGroupSyntax,
        in context: [Syntax]
    ) -> Parsed<Expansion> {
        if declaration.is(EnumDeclSyntax.self) {
            return EnumModel.parse(node, on: declaration, for: .state, in: context).map { model in
                let renderer = StateEnumRenderer(model: model)
                return Expansion(
                    members: renderer.members,
                    extensionMembers: renderer.extensionMembers,
                    otherProtocol: "ObservableState"
                )
            }
        }
        return StateModel.parse(node, on: declaration, in: context).map { model in
            let renderer = StateRenderer(model: model)
            return Expansion(
                members: renderer.members,
                extensionMembers: renderer.extensionMembers,
                otherProtocol: "ObservableEnum"
            )
        }
    }
}
