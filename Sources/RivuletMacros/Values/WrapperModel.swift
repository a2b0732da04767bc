import SwiftDiagnostics
import SwiftSyntax

/// A field in a wrapper as it stands in the source.
struct WrapperModel {
    /// The name as written, with backticks if it has them.
    let name: String
    let bareName: String
    let type: TypeSyntax
    let initializer: String?
    /// The wrapper's type as written.
    let wrapper: String
    let config: String?
    let isProjected: Bool

    /// The storage's name.
    var storage: String { bareName.prefixed("_") }

    /// The wrapper's name without module and type arguments.
    var wrapperName: String {
        let withoutArguments = wrapper.prefix { $0 != "<" }
        return String(withoutArguments.split(separator: ".").last ?? withoutArguments)
    }

    /// The value that a field has before anything is written to it: its initialiser's, or nil for an optional.
    var standard: String? { initializer ?? (type.isOptionalBySpelling ? "nil" : nil) }

    /// The call that wraps a value.
    func makeWrapper(_ value: String) -> String {
        "\(wrapper).makeWrapper(from: \(value)\(config.map { ", config: \($0)" } ?? ""))"
    }

    /// Reads a declaration; the first failing check is the one that counts.
    ///
    /// Source: <Tests/Rows/Systems.md#a-diagnostics>.
    static func parse(_ node: AttributeSyntax, on declaration: some DeclSyntaxProtocol) -> Parsed<WrapperModel> {
        guard let variable = declaration.as(VariableDeclSyntax.self), !variable.isTypeMember else {
            return fault(.invalidDeclarationPlacement, node)
        }
        guard let binding = variable.bindings.first, variable.bindings.count == 1 else {
            return fault(.unsupportedMultiBinding, node, Mend.split(variable))
        }
        guard variable.bindingSpecifier.tokenKind == .keyword(.var) else {
            return fault(.requiresVar, variable.bindingSpecifier, Mend.makeVariable(variable.bindingSpecifier))
        }
        if let accessors = binding.accessorBlock { return fault(.existingAccessorsNotSupported, accessors) }
        guard let type = binding.typeAnnotation?.type else {
            let isName = binding.pattern.is(IdentifierPatternSyntax.self)
            return fault(.requiresExplicitType, binding.pattern, isName ? Mend.addType(binding) : nil)
        }
        guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
            return fault(.unsupportedPattern, binding.pattern)
        }
        let arguments = node.arguments?.as(LabeledExprListSyntax.self)
        guard let wrapper = arguments?.first, wrapper.label == nil else { return fault(.missingWrapperArgument, node) }
        guard
            let reference = wrapper.expression.as(MemberAccessExprSyntax.self),
            let base = reference.base,
            reference.declName.baseName.tokenKind == .keyword(.self)
        else { return fault(.invalidWrapperExpression, wrapper.expression, Mend.addSelf(wrapper.expression)) }
        if let diagnostic = attributeFault(node, variable.attributes) { return .diagnostics([diagnostic]) }
        let projected = arguments?.first { $0.label?.text == "projected" }?.expression
        return .model(
            WrapperModel(
                name: identifier.text,
                bareName: identifier.bareName,
                type: type.trimmed,
                initializer: binding.initializer?.value.trimmedDescription,
                wrapper: base.trimmedDescription,
                config: arguments?.first { $0.label?.text == "config" }?.expression.trimmedDescription,
                isProjected: projected?.as(BooleanLiteralExprSyntax.self)?.literal.tokenKind == .keyword(.true)
            )
        )
    }

    /// The fault in the order of the attributes, if there is one.
    private static func attributeFault(_ node: AttributeSyntax, _ attributes: AttributeListSyntax) -> Diagnostic? {
        guard let ignored = attributes.attribute(named: "ObservationStateIgnored") else {
            let message = WrapperDiagnostic.missingObservationStateIgnored
            return Diagnostic(node: node, message: message, fixIts: [Mend.ignore(after: node)])
        }
        let names = attributes.compactMap { $0.as(AttributeSyntax.self)?.lastName }
        guard
            let own = names.firstIndex(of: node.lastName),
            let other = names.firstIndex(of: ignored.lastName),
            other < own
        else { return nil }
        let mend = Mend.move(ignored, behind: node, in: attributes)
        let message = WrapperDiagnostic.incorrectAttributeOrder
        return Diagnostic(node: ignored, message: message, fixIts: mend.map { [$0] } ?? [])
    }

    private static func fault(
        _ message: WrapperDiagnostic,
        _ node: some SyntaxProtocol,
        _ mend: FixIt? = nil
    ) -> Parsed<WrapperModel> {
        .diagnostics([Diagnostic(node: node, message: message, fixIts: mend.map { [$0] } ?? [])])
    }
}
