import SwiftDiagnostics
import SwiftSyntax

/// A field in a wrapper as written in the source.
struct WrapperModel {
    /// The name as written, with backticks if it has them.
    let name: String
    let bareName: String
    /// The type as written; nil if it follows from the initialiser.
    let type: TypeSyntax?
    let initializer: String?
    /// The code for the wrapper's type.
    let wrapper: String
    /// The code for the wrapper's name, as a string without module and type arguments.
    let wrapperName: String
    /// The name of the wrapper or the kind, as the author wrote it, if it leaves the field out of JSON.
    ///
    /// Another wrapper that omits its field cannot be recognised here.
    let omittingName: String?
    let config: String?
    let isProjected: Bool

    /// The storage's name.
    var storage: String { bareName.prefixed("_") }

    /// The value that a field has before the first write to it: its initialiser's, or nil for an optional.
    var defaultValue: String? { initializer ?? (type?.isOptionalBySpelling == true ? "nil" : nil) }

    /// The call that wraps a value.
    func makeWrapper(_ value: String) -> String {
        "\(wrapper).makeWrapper(from: \(value)\(config.map { ", config: \($0)" } ?? ""))"
    }

    /// Reads a declaration with `@ObservableStateWrapper` or `@Wrapped`, and reports only the first failing check.
    ///
    /// Source: <Tests/Rows/Systems.md#a-diagnostics>.
    static func parse(_ node: AttributeSyntax, on declaration: some DeclSyntaxProtocol) -> Parsed<WrapperModel> {
        let form = WrapperForm(node)
        guard let variable = declaration.as(VariableDeclSyntax.self), !variable.isTypeMember else {
            return form.fault(.invalidDeclarationPlacement, node)
        }
        guard let binding = variable.bindings.first, variable.bindings.count == 1 else {
            return form.fault(.unsupportedMultiBinding, node, SourceFix.split(variable))
        }
        guard variable.bindingSpecifier.tokenKind == .keyword(.var) else {
            return form.fault(
                .requiresVar,
                variable.bindingSpecifier,
                SourceFix.makeVariable(variable.bindingSpecifier)
            )
        }
        if let accessors = binding.accessorBlock { return form.fault(.existingAccessorsNotSupported, accessors) }
        guard let type = form.type(of: binding) else {
            let isName = binding.pattern.is(IdentifierPatternSyntax.self)
            return form.fault(.requiresExplicitType, binding.pattern, isName ? SourceFix.addType(binding) : nil)
        }
        guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
            return form.fault(.unsupportedPattern, binding.pattern)
        }
        let arguments = node.arguments?.as(LabeledExprListSyntax.self)
        guard let wrapper = arguments?.first, wrapper.label == nil else {
            return form.fault(.missingWrapperArgument, node)
        }
        guard
            let reference = wrapper.expression.as(MemberAccessExprSyntax.self),
            let base = reference.base,
            reference.declName.baseName.tokenKind == .keyword(.self)
        else {
            // `@ObservableState` reports the errors of generic wrappers, with or without `.self`.
            if form == .short, WrappedArguments(variable.attributes)?.fault != nil { return .diagnostics([]) }
            return form.fault(.invalidWrapperExpression, wrapper.expression, SourceFix.addSelf(wrapper.expression))
        }
        if let diagnostic = form.attributeFault(node, variable.attributes) ?? form.typeFault(base, of: binding) {
            return .diagnostics([diagnostic])
        }
        let projected = arguments?.first { $0.label?.text == "projected" }?.expression
        return .model(
            WrapperModel(
                name: identifier.text,
                bareName: identifier.bareName,
                type: binding.typeAnnotation?.type.trimmed,
                initializer: binding.initializer?.value.trimmedDescription,
                wrapper: form.wrapper(base, of: type),
                wrapperName: form.wrapperName(base, of: type),
                omittingName: base.nameInRivulet.flatMap { ["OmitCoding", "Omitted"].contains($0) ? $0 : nil },
                config: form.config(arguments)?.expression.trimmedDescription,
                isProjected: projected?.as(BooleanLiteralExprSyntax.self)?.literal.tokenKind == .keyword(.true)
            )
        )
    }
}
