// This file owns the check that a name means a type of Rivulet: `Clamped` and `RivuletObservation.Clamped` do,
// `Other.Clamped` does not.

import SwiftSyntax

/// The modules in which an app finds Rivulet's wrappers.
private let modules: Set<String> = ["Rivulet", "RivuletEngine", "RivuletObservation"]

extension ExprSyntax {
    /// The name of a type if it has no qualifier or a module of Rivulet; without type arguments.
    var nameInRivulet: String? {
        if let generic = self.as(GenericSpecializationExprSyntax.self) { return generic.expression.nameInRivulet }
        if let name = self.as(DeclReferenceExprSyntax.self) { return name.nameInRivulet }
        guard
            let member = self.as(MemberAccessExprSyntax.self),
            let module = member.base?.as(DeclReferenceExprSyntax.self)?.baseName.text,
            modules.contains(module)
        else { return nil }
        return member.declName.nameInRivulet
    }
}

extension DeclReferenceExprSyntax {
    fileprivate var nameInRivulet: String? {
        let isOurs = moduleSelector.map { modules.contains($0.moduleName.text) } ?? true
        return isOurs ? baseName.text : nil
    }
}

extension AttributeSyntax {
    /// The name of the attribute if it has no qualifier or a module of Rivulet.
    var nameInRivulet: String? {
        if let name = attributeName.as(IdentifierTypeSyntax.self) {
            let isOurs = name.moduleSelector.map { modules.contains($0.moduleName.text) } ?? true
            return isOurs ? name.name.text : nil
        }
        guard
            let member = attributeName.as(MemberTypeSyntax.self),
            let module = member.baseType.as(IdentifierTypeSyntax.self)?.name.text,
            modules.contains(module)
        else { return nil }
        return member.name.text
    }
}
