// This file owns what keeps a stored variable from being a field of a state, and the mends.

import SwiftDiagnostics
import SwiftSyntax

extension VariableDeclSyntax {
    /// What keeps this stored variable from being tracked, or, if it need not be, from having a value.
    var stateFault: Diagnostic? {
        guard let binding = bindings.first else { return nil }
        let name = binding.pattern.trimmedDescription
        if let fault = attributeFault(binding) { return fault }
        if bindingSpecifier.tokenKind == .keyword(.let) {
            guard bindings.contains(where: { $0.initializer == nil }) else { return nil }
            let mend = Mend.makeVariable(bindingSpecifier, "private(set) var")
            return fault(.constantWithoutValue(name: name), bindingSpecifier, modifiers.isEmpty ? mend : nil)
        }
        if attributes.attribute(named: "ObservationStateIgnored") != nil {
            return hasValue ? nil : fault(.ignoredWithoutValue(name: name), binding.pattern)
        }
        guard bindings.count == 1 else { return fault(.severalBindings, bindings, Mend.split(self)) }
        guard binding.pattern.is(IdentifierPatternSyntax.self) else { return fault(.pattern, binding.pattern) }
        if let modifier = modifiers.first(where: { $0.name.tokenKind == .keyword(.lazy) }) {
            return fault(.lazy(name: name), binding.pattern, Mend.remove(modifier))
        }
        if let accessors = binding.accessorBlock { return fault(.observers(name: name), accessors, ignoring) }
        return typeFault(binding, name) ?? storedFault
    }

    /// What is wrong with a field that is not on disk, and that nothing gives a value when it is read from there.
    ///
    /// A replaceable field is half of an app's state, which is never made from what was stored: that goes into a new state.
    var storedFault: Diagnostic? {
        guard !hasValue, let binding = bindings.first else { return nil }
        let cause: String
        if attributes.attribute(named: "Transient") != nil, attributes.attribute(named: "Replaceable") == nil {
            cause = "a field with @Transient"
        } else if isOmitted {
            cause = "a field in OmitCoding"
        } else {
            return nil
        }
        return fault(.unstoredWithoutValue(name: binding.pattern.trimmedDescription, by: cause), binding.pattern)
    }

    /// Whether the field is in the wrapper that leaves it out of JSON; another wrapper that does so cannot be told from here.
    private var isOmitted: Bool {
        guard
            let attribute = attributes.attribute(named: "ObservableStateWrapper"),
            case .model(let wrapper) = WrapperModel.parse(attribute, on: self)
        else { return false }
        return wrapper.wrapperName == "OmitCoding"
    }

    /// Whether every name has a value when nothing has been assigned to it.
    private var hasValue: Bool {
        bindings.allSatisfy { $0.initializer != nil || $0.typeAnnotation?.type.isOptionalBySpelling == true }
    }

    /// The mend that leaves the variable alone, if it can be.
    private var ignoring: FixIt? { hasValue ? Mend.ignore(self) : nil }

    /// What is wrong with a value that JSON cannot have.
    private func typeFault(_ binding: PatternBindingSyntax, _ name: String) -> Diagnostic? {
        let type = binding.typeAnnotation?.type.withoutSpelling
        let value = type == nil ? binding.initializer?.value : nil
        if type?.is(FunctionTypeSyntax.self) == true || value?.is(ClosureExprSyntax.self) == true {
            return fault(.closure(name: name), binding.faultyType, ignoring)
        }
        if type?.is(TupleTypeSyntax.self) == true || (value?.as(TupleExprSyntax.self)?.elements.count ?? 1) != 1 {
            return fault(.tuple(name: name), binding.faultyType, ignoring)
        }
        return nil
    }

    /// What is wrong with an attribute that would make accessors too.
    private func attributeFault(_ binding: PatternBindingSyntax) -> Diagnostic? {
        for attribute in attributes.compactMap({ $0.as(AttributeSyntax.self) }) {
            let message = MacroDiagnostic.otherAttribute(name: attribute.lastName)
            switch attribute.lastName {
            case "ObservationIgnored":
                return fault(message, attribute, Mend.use("@ObservationStateIgnored", insteadOf: attribute))
            case "ObservationTracked":
                return fault(message, attribute, Mend.use("@ObservationStateTracked", insteadOf: attribute))
            case "Box", "Clamped", "OmitCoding", "PresentationState", "Presents":
                return fault(message, attribute, wrapping(attribute, binding))
            default: continue
            }
        }
        return nil
    }

    /// The mend that uses a property wrapper by `@ObservableStateWrapper`.
    private func wrapping(_ attribute: AttributeSyntax, _ binding: PatternBindingSyntax) -> FixIt? {
        let type = binding.typeAnnotation?.type
        let isPresented = ["PresentationState", "Presents"].contains(attribute.lastName)
        let wrapped = isPresented ? type?.as(OptionalTypeSyntax.self)?.wrappedType ?? type : type
        let standard = binding.initializer?.value.literalType ?? "<#Type#>"
        let name = isPresented ? "PresentationState" : attribute.lastName
        var arguments = ["\(name)<\(wrapped?.trimmedDescription ?? standard)>.self"]
        if isPresented { arguments.append("projected: true") }
        if name == "Clamped" {
            let range = attribute.arguments?.as(LabeledExprListSyntax.self)?.last?.expression
            arguments.append("config: \(range?.trimmedDescription ?? "<#range#>")")
        }
        let text = "@ObservableStateWrapper(\(arguments.joined(separator: ", "))) @ObservationStateIgnored"
        return Mend.use(text, insteadOf: attribute)
    }

    private func fault(_ message: MacroDiagnostic, _ node: some SyntaxProtocol, _ mend: FixIt? = nil) -> Diagnostic {
        Diagnostic(node: node, message: message, fixIts: mend.map { [$0] } ?? [])
    }
}

extension PatternBindingSyntax {
    /// Where the type is: as written, or by the name.
    fileprivate var faultyType: Syntax { typeAnnotation.map { Syntax($0.type) } ?? Syntax(pattern) }
}

extension TypeSyntax {
    /// The type without `?`, attributes and parentheses, which say nothing of what it is.
    fileprivate var withoutSpelling: TypeSyntax {
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.withoutSpelling }
        if let attributed = self.as(AttributedTypeSyntax.self) { return attributed.baseType.withoutSpelling }
        if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first {
            return only.type.withoutSpelling
        }
        return self
    }
}
