// Part of Rivulet. See README.md for the architecture.
// This file owns the expansion of @AppEvent: the JSON forms of an enum's cases and their table.

import SwiftDiagnostics
package import SwiftSyntax
import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// The expansion of `@AppEvent`.
package struct AppEventMacro: ExtensionMacro {
    package static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) -> [ExtensionDeclSyntax] {
        switch EnumModel.parse(node, on: declaration, for: .events, in: context.lexicalContext) {
        case .diagnostics(let diagnostics):
            for diagnostic in diagnostics { context.diagnose(diagnostic) }
            return []
        case .model(let model):
            let names = protocols.map(\.trimmedDescription).joined(separator: ", ")
            let conformance = names.isEmpty ? "" : ": \(names)"
            let members = EventRenderer(model: model).members.joined(separator: "\n\n")
            let text: DeclSyntax = """
                extension \(type.trimmed)\(raw: conformance) {
                \(raw: members)
                }
                """
            return text.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
        }
    }
}
