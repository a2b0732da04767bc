// This file owns the types that a declaration shows by its spelling.

import SwiftSyntax

extension TypeSyntax {
    /// The type that a value of this type has: `T!` is a `T?`.
    var valueType: String {
        self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self).map { "\($0.wrappedType.trimmedDescription)?" }
            ?? trimmedDescription
    }
}

extension PatternBindingSyntax {
    /// The type of the annotation, or the type that the initial value shows.
    var evidentType: String? { typeAnnotation?.type.valueType ?? initializer?.value.evidentType }
}

extension VariableDeclSyntax {
    /// The type of the first name.
    var evidentType: String? { bindings.first?.evidentType }
}

extension ExprSyntax {
    /// The type that a literal has by default.
    var literalType: String? {
        switch kind {
        case .integerLiteralExpr: "Int"
        case .floatLiteralExpr: "Double"
        case .booleanLiteralExpr: "Bool"
        case .stringLiteralExpr: "String"
        case .prefixOperatorExpr: numberType
        default: nil
        }
    }

    /// The type of a number literal after its sign.
    private var numberType: String? {
        guard let signed = self.as(PrefixOperatorExprSyntax.self), signed.operator.text == "-" else { return nil }
        return ["Int", "Double"].first { $0 == signed.expression.literalType }
    }

    /// Generic types of the standard library and of Rivulet, which are no types without their arguments.
    private static let generics: Set<String> = [
        "Array", "ClosedRange", "Dictionary", "Keyed", "Optional", "Range", "Set",
    ]

    /// The type that an expression names or has by itself: the type of a literal, of `Type(…)`, or of `[Type]()`.
    var evidentType: String? {
        if let type = literalType { return type }
        guard let called = self.as(FunctionCallExprSyntax.self)?.calledExpression.trimmed else { return nil }
        if called.is(ArrayExprSyntax.self) || called.is(DictionaryExprSyntax.self) { return called.description }
        let name = called.as(GenericSpecializationExprSyntax.self)?.expression ?? called
        let last =
            name.as(MemberAccessExprSyntax.self).flatMap { $0.base == nil ? nil : $0.declName.baseName.text }
            ?? name.as(DeclReferenceExprSyntax.self)?.baseName.text
        // By the naming convention of Swift, functions begin in lower case.
        guard let last, let first = last.first, first.isUppercase else { return nil }
        // The call infers the type arguments, and its text does not have them.
        guard name != called || !Self.generics.contains(last) else { return nil }
        return called.description
    }
}
