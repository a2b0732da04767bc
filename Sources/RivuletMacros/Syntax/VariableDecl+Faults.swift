// This file owns the errors that keep a stored variable from being a field of a state, and the fix-its.

import SwiftDiagnostics
import SwiftSyntax

extension VariableDeclSyntax {
    /// The error of this stored variable: it cannot be tracked, or it is not tracked and lacks a value.
    var stateFault: Diagnostic? {
        guard let binding = bindings.first else { return nil }
        let name = binding.pattern.trimmedDescription
        if let fault = attributeFault { return fault }
        if bindingSpecifier.tokenKind == .keyword(.let) {
            guard bindings.contains(where: { $0.initializer == nil }) else { return nil }
            let fix = SourceFix.makeVariable(bindingSpecifier, "private(set) var")
            return fault(.constantWithoutValue(name: name), bindingSpecifier, modifiers.isEmpty ? fix : nil)
        }
        if attributes.attribute(named: "ObservationStateIgnored") != nil {
            return hasValue ? nil : fault(.ignoredWithoutValue(name: name), binding.pattern)
        }
        guard bindings.count == 1 else { return fault(.severalBindings, bindings, SourceFix.split(self)) }
        guard binding.pattern.is(IdentifierPatternSyntax.self) else { return fault(.pattern, binding.pattern) }
        if let modifier = modifiers.first(where: { $0.name.tokenKind == .keyword(.lazy) }) {
            return fault(.lazy(name: name), binding.pattern, SourceFix.remove(modifier))
        }
        if let accessors = binding.accessorBlock { return fault(.observers(name: name), accessors, ignoring) }
        return typeFault(binding, name) ?? storedFault
    }

    /// The error of a field that is not on disk and would have no value when a stored state is read.
    ///
    /// A replaceable field is half of an app's state. Stored data is merged into a new state, which has this half.
    var storedFault: Diagnostic? {
        guard !hasValue, let binding = bindings.first else { return nil }
        let cause: String
        if attributes.attribute(named: "Transient") != nil, attributes.attribute(named: "Replaceable") == nil {
            cause = "a field with @Transient"
        } else if let omittingName {
            cause = "a field in \(omittingName)"
        } else {
            return nil
        }
        return fault(.unstoredWithoutValue(name: binding.pattern.trimmedDescription, by: cause), binding.pattern)
    }

    /// The name of the wrapper or the kind that leaves the field out of JSON.
    private var omittingName: String? {
        guard let attribute = attributes.wrapper, case .model(let wrapper) = WrapperModel.parse(attribute, on: self)
        else {
            return nil
        }
        return wrapper.omittingName
    }

    /// True if every name has a value before any assignment.
    private var hasValue: Bool {
        bindings.allSatisfy { $0.initializer != nil || $0.typeAnnotation?.type.isOptionalBySpelling == true }
    }

    /// The fix-it that adds `@ObservationStateIgnored`; nil if the variable has no value.
    private var ignoring: FixIt? { hasValue ? SourceFix.ignore(self) : nil }

    /// Returns the error of a value that JSON cannot have.
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

    /// The error of an attribute that would make accessors too.
    private var attributeFault: Diagnostic? {
        for attribute in attributes.compactMap({ $0.as(AttributeSyntax.self) }) {
            let message = MacroDiagnostic.otherAttribute(name: attribute.lastName)
            switch attribute.lastName {
            case "ObservationIgnored":
                return fault(message, attribute, SourceFix.use("@ObservationStateIgnored", insteadOf: attribute))
            case "ObservationTracked":
                return fault(message, attribute, SourceFix.use("@ObservationStateTracked", insteadOf: attribute))
            default:
                guard let kind = attribute.nameInRivulet.flatMap({ Self.wrapperKinds[$0] }) else { continue }
                return fault(message, attribute, wrapping(attribute, in: kind))
            }
        }
        return nil
    }

    /// The arguments of `@Wrapped` in place of a property wrapper.
    private static let wrapperKinds = [
        "Box": "Boxed.self", "Boxed": "Boxed.self", "Clamped": "Clamped.self", "OmitCoding": "Omitted.self",
        "Omitted": "Omitted.self", "PresentationState": "Presented.self, projected: true",
        "Presented": "Presented.self, projected: true", "Presents": "Presented.self, projected: true",
    ]

    /// Returns the fix-it that uses `@Wrapped` in place of a property wrapper.
    private func wrapping(_ attribute: AttributeSyntax, in kind: String) -> FixIt {
        let range = attribute.arguments?.as(LabeledExprListSyntax.self)?.last?.expression.trimmedDescription
        let config = attribute.lastName == "Clamped" ? ", \(range ?? "<#range#>")" : ""
        return SourceFix.use("@Wrapped(\(kind)\(config))", insteadOf: attribute)
    }

    private func fault(_ message: MacroDiagnostic, _ node: some SyntaxProtocol, _ fix: FixIt? = nil) -> Diagnostic {
        Diagnostic(node: node, message: message, fixIts: fix.map { [$0] } ?? [])
    }
}

extension PatternBindingSyntax {
    /// The node for an error of the type: the type as written, or the name.
    fileprivate var faultyType: Syntax { typeAnnotation.map { Syntax($0.type) } ?? Syntax(pattern) }
}

extension TypeSyntax {
    /// The type without `?`, attributes and parentheses, which do not change its kind.
    fileprivate var withoutSpelling: TypeSyntax {
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.withoutSpelling }
        if let attributed = self.as(AttributedTypeSyntax.self) { return attributed.baseType.withoutSpelling }
        if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first {
            return only.type.withoutSpelling
        }
        return self
    }
}
