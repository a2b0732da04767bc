import SwiftDiagnostics
import SwiftSyntax

/// The two forms of a field in a wrapper.
enum WrapperForm {
    /// `@ObservableStateWrapper(Box<[Int]>.self) @ObservationStateIgnored var history: [Int] = []`.
    case long
    /// `@Wrapped(Boxed.self) var history: [Int] = []`.
    case short

    init(_ attribute: AttributeSyntax) {
        self = attribute.lastName == "Wrapped" ? .short : .long
    }

    /// Returns the type of a field's value; the long form needs an annotation.
    func type(of binding: PatternBindingSyntax) -> String? {
        switch self {
        case .long: binding.typeAnnotation?.type.trimmedDescription
        case .short: binding.evidentType
        }
    }

    /// Returns the code for the wrapper's type.
    ///
    /// The long form names the wrapper's type. In the short form the value's type completes it: `Clamped` on an `Int`
    /// is `Clamped<Int>`, and the kind `Boxed` on an `Int` is `Box<Int>`. A wrapper that is not generic, or has its
    /// type arguments, is its own kind.
    func wrapper(_ base: ExprSyntax, of type: String) -> String {
        let text = base.trimmedDescription
        if self == .long { return text }
        let isClamped = base.nameInRivulet == "Clamped" && !base.is(GenericSpecializationExprSyntax.self)
        return isClamped ? "\(text)<\(type)>" : "\(text)._$Kind.Of<\(type)>"
    }

    /// Returns the code for the wrapper's name.
    ///
    /// In the short form the code is a call, because only the running program knows the wrapper of a kind.
    func wrapperName(_ base: ExprSyntax, of type: String) -> String {
        switch self {
        case .long: base.typeName.quoted
        case .short: "RivuletObservation.StateField.name(of: \(wrapper(base, of: type)).self)"
        }
    }

    /// Returns the argument with the configuration.
    func config(_ arguments: LabeledExprListSyntax?) -> LabeledExprSyntax? {
        switch self {
        case .long: arguments?.first { $0.label?.text == "config" }
        case .short: arguments?.dropFirst().first { $0.label == nil }
        }
    }

    /// Returns the error of the other attributes, if there is one: the long form requires `@ObservationStateIgnored`,
    /// and the short form refuses it.
    func attributeFault(_ node: AttributeSyntax, _ attributes: AttributeListSyntax) -> Diagnostic? {
        let ignored = attributes.attribute(named: "ObservationStateIgnored")
        if self == .short {
            if let other = attributes.attribute(named: "ObservableStateWrapper") {
                let names = ["ObservableStateWrapper", "ObservationStateIgnored"]
                return diagnostic(WrappedDiagnostic.otherForm, other, SourceFix.remove(names, from: attributes))
            }
            guard let ignored else { return nil }
            let fix = SourceFix.remove([ignored.lastName], from: attributes)
            return diagnostic(WrappedDiagnostic.ignored, ignored, fix)
        }
        guard let ignored else {
            return diagnostic(WrapperDiagnostic.missingObservationStateIgnored, node, SourceFix.ignore(after: node))
        }
        let names = attributes.compactMap { $0.as(AttributeSyntax.self)?.lastName }
        guard
            let own = names.firstIndex(of: node.lastName),
            let other = names.firstIndex(of: ignored.lastName),
            other < own
        else { return nil }
        let fix = SourceFix.move(ignored, behind: node, in: attributes)
        return diagnostic(WrapperDiagnostic.incorrectAttributeOrder, ignored, fix)
    }

    /// Returns the error of a field whose type does not fit the kind, as far as the source shows it.
    func typeFault(_ base: ExprSyntax, of binding: PatternBindingSyntax) -> Diagnostic? {
        guard self == .short, base.nameInRivulet == "Presented", binding.typeAnnotation == nil else { return nil }
        // Any other type may be an alias of an optional type.
        guard binding.initializer?.value.literalType != nil else { return nil }
        return diagnostic(WrappedDiagnostic.notOptional, binding.pattern, nil)
    }

    /// Returns true if a declaration also has the long form, which makes the accessors then.
    func hasOtherForm(in declaration: some DeclSyntaxProtocol) -> Bool {
        guard self == .short, let variable = declaration.as(VariableDeclSyntax.self) else { return false }
        return variable.attributes.attribute(named: "ObservableStateWrapper") != nil
    }

    /// Returns an error in the words of the form.
    func fault<Model>(
        _ message: WrapperDiagnostic,
        _ node: some SyntaxProtocol,
        _ fix: FixIt? = nil
    ) -> Parsed<Model> {
        switch self {
        case .long: .diagnostics([diagnostic(message, node, fix)])
        case .short: .diagnostics([diagnostic(WrappedDiagnostic.shared(message), node, fix)])
        }
    }

    private func diagnostic(
        _ message: some DiagnosticMessage,
        _ node: some SyntaxProtocol,
        _ fix: FixIt?
    ) -> Diagnostic {
        Diagnostic(node: node, message: message, fixIts: fix.map { [$0] } ?? [])
    }
}

extension AttributeListSyntax {
    /// The attribute that puts a field in a wrapper; with both forms it is the long one.
    var wrapper: AttributeSyntax? {
        attribute(named: "ObservableStateWrapper") ?? attribute(named: "Wrapped")
    }
}

extension ExprSyntax {
    /// The name of a type, without module and type arguments.
    fileprivate var typeName: String {
        let text = trimmedDescription.prefix { $0 != "<" }
        return String(text.split { $0 == "." || $0 == ":" }.last ?? text)
    }
}
