import SwiftDiagnostics
import SwiftSyntax

/// The arguments of `@Wrapped`, with the errors that keep the compiler from expanding the macro.
///
/// `@ObservableState` reports these errors, beside the compiler's own.
struct WrappedArguments {
    /// The kinds of the generic wrappers whose type arguments Swift cannot infer.
    private static let kinds = ["Box": "Boxed", "OmitCoding": "Omitted", "PresentationState": "Presented"]

    private let arguments: LabeledExprListSyntax
    /// The first argument.
    private let wrapper: ExprSyntax
    /// The type in the first argument, with or without `.self`.
    private let base: ExprSyntax

    /// Reads the attributes of a variable; nil without a `@Wrapped` with arguments.
    init?(_ attributes: AttributeListSyntax) {
        guard
            let arguments = attributes.attribute(named: "Wrapped")?.arguments?.as(LabeledExprListSyntax.self),
            let wrapper = arguments.first?.expression
        else { return nil }
        self.arguments = arguments
        self.wrapper = wrapper
        let reference = wrapper.as(MemberAccessExprSyntax.self)
        base = reference?.declName.baseName.tokenKind == .keyword(.self) ? reference?.base ?? wrapper : wrapper
    }

    /// The first error.
    var fault: Diagnostic? {
        genericFault ?? labelFault ?? rangeFault
    }

    /// The error of `@Wrapped(Box.self)`.
    private var genericFault: Diagnostic? {
        guard
            !base.is(GenericSpecializationExprSyntax.self),
            let name = base.nameInRivulet,
            let kind = Self.kinds[name]
        else { return nil }
        let fix = SourceFix.replace(wrapper, with: "\(kind).self", "Replace '\(name)' with '\(kind)'", id: "kind")
        return Diagnostic(
            node: wrapper,
            message: WrappedDiagnostic.generic(wrapper: name, kind: kind),
            fixIts: [fix]
        )
    }

    /// The error of `@Wrapped(Clamped.self, config: 0...9)`, which has the label of the long form.
    private var labelFault: Diagnostic? {
        guard
            let labelled = arguments.dropFirst().first(where: { $0.label != nil && $0.label?.text != "projected" }),
            let label = labelled.label?.text
        else { return nil }
        let value = labelled.expression.trimmedDescription + (labelled.trailingComma == nil ? "" : ",")
        let fix = SourceFix.replace(labelled, with: value, "Remove '\(label):'", id: "removeLabel")
        return Diagnostic(node: labelled, message: WrappedDiagnostic.label(label), fixIts: [fix])
    }

    /// The error of `@Wrapped(Clamped.self)`.
    private var rangeFault: Diagnostic? {
        guard base.nameInRivulet == "Clamped", !arguments.dropFirst().contains(where: { $0.label == nil }) else {
            return nil
        }
        let text = "\(base.trimmedDescription).self, <#range#>"
        let fix = SourceFix.replace(wrapper, with: text, "Add the range", id: "addRange")
        return Diagnostic(node: wrapper, message: WrappedDiagnostic.missingRange, fixIts: [fix])
    }
}
