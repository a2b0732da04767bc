// This file owns the comparison of declarations by name and signature, so that a type's own members are not generated
// again.

import SwiftSyntax

extension DeclSyntax {
    /// Returns a text that no two members of a type can have in common; nil for declarations that no macro here
    /// generates.
    ///
    /// Generic parameters are compared by their constraints. Their names and the position of the constraints do not
    /// matter, and neither does a `Swift.` in front of a type.
    func signature(in typeName: String) -> String? {
        if let function = self.as(FunctionDeclSyntax.self) { return function.signature(in: typeName) }
        if let variable = self.as(VariableDeclSyntax.self), !variable.isTypeMember {
            return variable.bindings.first.map { "var \($0.pattern.trimmedDescription)" }
        }
        let name = self.as(EnumDeclSyntax.self)?.name ?? self.as(TypeAliasDeclSyntax.self)?.name
        return name.map { "type \($0.bareName)" }
    }
}

extension FunctionDeclSyntax {
    fileprivate func signature(in typeName: String) -> String {
        let isTypeMember = modifiers.contains(.static) || modifiers.contains(.class)
        let constraints = self.constraints
        let parameters = signature.parameterClause.parameters.map { parameter in
            let type = parameter.type.tokens(viewMode: .sourceAccurate).map { token in
                token.text == typeName ? "Self" : constraints[token.text] ?? token.text
            }
            return "\(parameter.firstName.bareName):\(type.joined().replacing("Swift.", with: ""))"
        }
        return "\(isTypeMember ? "static " : "")func \(name.bareName)(\(parameters.joined(separator: ",")))"
    }

    /// The constraints of each generic parameter, in the order of their text.
    private var constraints: [String: String] {
        var constraints: [String: [String]] = [:]
        for parameter in genericParameterClause?.parameters ?? [] {
            constraints[parameter.name.text] = parameter.inheritedType?.conjuncts ?? []
        }
        for requirement in genericWhereClause?.requirements ?? [] {
            guard let conformance = requirement.requirement.as(ConformanceRequirementSyntax.self) else { continue }
            constraints[conformance.leftType.trimmedDescription]? += conformance.rightType.conjuncts
        }
        return constraints.mapValues { "some \($0.sorted().joined(separator: "&"))" }
    }
}

extension TypeSyntax {
    /// The types of a composition.
    fileprivate var conjuncts: [String] {
        guard let composition = self.as(CompositionTypeSyntax.self) else {
            return [trimmedDescription.replacing("Swift.", with: "")]
        }
        return composition.elements.flatMap(\.type.conjuncts)
    }
}
