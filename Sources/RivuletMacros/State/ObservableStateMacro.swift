import SwiftDiagnostics
package import SwiftSyntax
import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// The expansion of `@ObservableState`.
///
/// The member role reports errors, once; the other roles are silent.
package struct ObservableStateMacro: MemberMacro, MemberAttributeMacro, ExtensionMacro {
    /// The generated text is written in its final form; formatting it again took half of the macros' time.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        switch Expansion.parse(node, on: declaration, in: context.lexicalContext) {
        case .diagnostics(let diagnostics):
            for diagnostic in diagnostics { context.diagnose(diagnostic) }
            // Fields that can be tracked are still tracked, so that the compiler does not also report each use of a
            // missing member.
            return Expansion.recover(node, on: declaration, in: context.lexicalContext).map(members) ?? []
        case .model(let expansion):
            return members(expansion)
        }
    }

    private static func members(_ expansion: Expansion) -> [DeclSyntax] {
        expansion.members.map(DeclSyntax.text)
    }

    package static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [AttributeSyntax] {
        StateModel.isRecoverable(declaration) && StateModel.isTracked(member) ? [.named("ObservationStateTracked")] : []
    }

    package static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard let expansion = Expansion.recover(node, on: declaration, in: context.lexicalContext) else { return [] }
        let names = protocols.map(\.trimmedDescription).filter { !$0.hasSuffix(expansion.otherProtocol) }
        return ExtensionDeclSyntax.list(of: type, conformingTo: names, members: expansion.extensionMembers)
    }
}

/// The generated code for a type; its text is written when a role asks for it.
private enum Expansion {
    case state(StateRenderer)
    case stateEnum(StateEnumRenderer)

    var members: [String] {
        switch self {
        case .state(let renderer): renderer.members
        case .stateEnum(let renderer): renderer.members
        }
    }

    var extensionMembers: [String] {
        switch self {
        case .state(let renderer): renderer.extensionMembers
        case .stateEnum(let renderer): renderer.extensionMembers
        }
    }

    /// The protocol for the other kind of type.
    var otherProtocol: String {
        switch self {
        case .state: "ObservableEnum"
        case .stateEnum: "ObservableState"
        }
    }

    static func parse(
        _ node: AttributeSyntax,
        on declaration: some DeclGroupSyntax,
        in context: [Syntax]
    ) -> Parsed<Expansion> {
        if declaration.is(EnumDeclSyntax.self) {
            return EnumModel.parse(node, on: declaration, for: .state, in: context).map(Expansion.init)
        }
        return StateModel.parse(node, on: declaration, in: context).map(Expansion.init)
    }

    /// Returns the generated code even if some members cannot be tracked; nil if no code can be generated.
    static func recover(
        _ node: AttributeSyntax,
        on declaration: some DeclGroupSyntax,
        in context: [Syntax]
    ) -> Expansion? {
        guard declaration.is(EnumDeclSyntax.self) else {
            return StateModel.recover(node, on: declaration, in: context).map(Expansion.init)
        }
        guard case .model(let expansion) = parse(node, on: declaration, in: context) else { return nil }
        return expansion
    }

    private init(_ model: EnumModel) {
        self = .stateEnum(StateEnumRenderer(model: model))
    }

    private init(_ model: StateModel) {
        self = .state(StateRenderer(model: model))
    }
}
