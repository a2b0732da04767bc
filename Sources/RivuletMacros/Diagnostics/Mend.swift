import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// One change of the source that takes a fault away.
struct Mend: FixItMessage {
    let message: String
    private let id: String

    var fixItID: MessageID { MessageID(domain: "Rivulet", id: id) }

    /// Writes other text in the place of a node; the space around it stays.
    static func replace(_ node: some SyntaxProtocol, with text: String, _ message: String, id: String) -> FixIt {
        let old = Syntax(node)
        let new = MissingDeclSyntax(
            leadingTrivia: old.leadingTrivia,
            attributes: [],
            modifiers: [],
            placeholder: .identifier(text),
            trailingTrivia: old.trailingTrivia
        )
        return FixIt(
            message: Mend(message: message, id: id),
            changes: [.replace(oldNode: old, newNode: Syntax(new))]
        )
    }
}

extension Mend {
    private static let ignored = "@ObservationStateIgnored"

    /// Makes a constant a variable, with access that suits it.
    static func makeVariable(_ specifier: TokenSyntax, _ text: String = "var") -> FixIt {
        replace(specifier, with: text, "Replace 'let' with '\(text)'", id: "makeVariable")
    }

    /// Puts `@ObservationStateIgnored` after an attribute.
    static func ignore(after attribute: AttributeSyntax) -> FixIt {
        replace(attribute, with: "\(attribute.trimmedDescription) \(ignored)", "Add '\(ignored)'", id: "ignore")
    }

    /// Puts `@ObservationStateIgnored` before a variable's keyword and modifiers.
    static func ignore(_ variable: VariableDeclSyntax) -> FixIt {
        let first = variable.modifiers.first?.name ?? variable.bindingSpecifier
        return replace(first, with: "\(ignored) \(first.text)", "Add '\(ignored)'", id: "ignore")
    }

    /// Moves an attribute behind another one that stands after it; each place keeps the space around it.
    static func move(_ first: AttributeSyntax, behind second: AttributeSyntax, in list: AttributeListSyntax) -> FixIt? {
        let elements = Array(list)
        guard
            let from = elements.firstIndex(where: { $0.id == first.id }),
            let to = elements.firstIndex(where: { $0.as(AttributeSyntax.self)?.lastName == second.lastName }),
            from < to
        else { return nil }
        var moved = elements
        moved.insert(moved.remove(at: from), at: to)
        let texts = zip(elements, moved).map { place, element in
            "\(place.leadingTrivia)\(element.trimmedDescription)\(place.trailingTrivia)"
        }
        let text = texts.joined().trimming(leading: list.leadingTrivia, trailing: list.trailingTrivia)
        let message =
            "Move '@\(first.attributeName.trimmedDescription)' behind '@\(second.attributeName.trimmedDescription)'"
        return replace(list, with: text, message, id: "move")
    }

    /// Adds `.self` to the name of a type.
    static func addSelf(_ expression: ExprSyntax) -> FixIt? {
        let isReference =
            expression.is(DeclReferenceExprSyntax.self) || expression.is(GenericSpecializationExprSyntax.self)
            || expression.is(MemberAccessExprSyntax.self)
        guard isReference else { return nil }
        return replace(expression, with: "\(expression.trimmedDescription).self", "Add '.self'", id: "addSelf")
    }

    /// Writes the type of a variable: what its literal has without a type, or a placeholder.
    static func addType(_ binding: PatternBindingSyntax) -> FixIt {
        let pattern = binding.pattern
        let type = binding.initializer?.value.literalType ?? "<#Type#>"
        return replace(pattern, with: "\(pattern.trimmedDescription): \(type)", "Add the type", id: "addType")
    }

    /// Takes a modifier away, with the space behind it.
    static func remove(_ modifier: DeclModifierSyntax) -> FixIt {
        let text = modifier.name.text
        let new = MissingDeclSyntax(
            leadingTrivia: modifier.leadingTrivia,
            attributes: [],
            modifiers: [],
            placeholder: .identifier("")
        )
        return FixIt(
            message: Mend(message: "Remove '\(text)'", id: "remove"),
            changes: [.replace(oldNode: Syntax(modifier), newNode: Syntax(new))]
        )
    }

    /// Writes another attribute.
    static func use(_ text: String, insteadOf attribute: AttributeSyntax) -> FixIt {
        replace(attribute, with: text, "Use '\(text)' instead", id: "use")
    }

    /// Makes one declaration for each name of a variable's declaration, if each is a plain one.
    static func split(_ variable: VariableDeclSyntax) -> FixIt? {
        var front = variable.with(\.bindings, []).trimmedDescription
        if front.last?.isWhitespace == false { front += " " }
        let indentation =
            variable.leadingTrivia.description.split(separator: "\n", omittingEmptySubsequences: false)
            .last ?? ""
        var texts: [String] = []
        var followingType: String?
        for binding in variable.bindings.reversed() {
            guard binding.pattern.is(IdentifierPatternSyntax.self), binding.accessorBlock == nil else { return nil }
            followingType =
                binding.typeAnnotation?.trimmedDescription ?? (binding.initializer == nil ? followingType : nil)
            let value = binding.initializer.map { " \($0.trimmedDescription)" } ?? ""
            texts.append("\(front)\(binding.pattern.trimmedDescription)\(followingType ?? "")\(value)")
        }
        let text = texts.reversed().joined(separator: "\n\(indentation)")
        return replace(variable, with: text, "Declare each by itself", id: "split")
    }
}

extension String {
    /// The text without the space of a list's ends, which the replaced list keeps.
    fileprivate func trimming(leading: Trivia, trailing: Trivia) -> String {
        String(dropFirst(leading.description.count).dropLast(trailing.description.count))
    }
}

extension ExprSyntax {
    /// The type that a literal has when nothing says otherwise.
    var literalType: String? {
        switch kind {
        case .integerLiteralExpr: "Int"
        case .floatLiteralExpr: "Double"
        case .booleanLiteralExpr: "Bool"
        case .stringLiteralExpr: "String"
        default: nil
        }
    }
}
