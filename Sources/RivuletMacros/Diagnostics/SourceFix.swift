import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// One change of the source that fixes an error.
struct SourceFix: FixItMessage {
    let message: String
    private let id: String

    var fixItID: MessageID { MessageID(domain: "Rivulet", id: id) }

    /// Replaces a node by other text; the space around the node stays.
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
            message: SourceFix(message: message, id: id),
            changes: [.replace(oldNode: old, newNode: Syntax(new))]
        )
    }
}

extension SourceFix {
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

    /// Moves an attribute behind a later one; the space around each position stays.
    static func move(_ first: AttributeSyntax, behind second: AttributeSyntax, in list: AttributeListSyntax) -> FixIt? {
        let elements = Array(list)
        guard
            let from = elements.firstIndex(where: { $0.id == first.id }),
            let to = elements.firstIndex(where: { $0.as(AttributeSyntax.self)?.lastName == second.lastName }),
            from < to
        else { return nil }
        var moved = elements
        moved.insert(moved.remove(at: from), at: to)
        let texts = zip(elements, moved).map { original, element in
            "\(original.leadingTrivia)\(element.trimmedDescription)\(original.trailingTrivia)"
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

    /// Adds the type of a variable: the default type of its literal, or a placeholder.
    static func addType(_ binding: PatternBindingSyntax) -> FixIt {
        let pattern = binding.pattern
        let type = binding.initializer?.value.literalType ?? "<#Type#>"
        return replace(pattern, with: "\(pattern.trimmedDescription): \(type)", "Add the type", id: "addType")
    }

    /// Removes a modifier, with the space behind it.
    static func remove(_ modifier: DeclModifierSyntax) -> FixIt {
        let text = modifier.name.text
        let new = MissingDeclSyntax(
            leadingTrivia: modifier.leadingTrivia,
            attributes: [],
            modifiers: [],
            placeholder: .identifier("")
        )
        return FixIt(
            message: SourceFix(message: "Remove '\(text)'", id: "remove"),
            changes: [.replace(oldNode: Syntax(modifier), newNode: Syntax(new))]
        )
    }

    /// Removes the attributes with these names; other attributes must remain, and the space around the list stays.
    static func remove(_ names: [String], from list: AttributeListSyntax) -> FixIt {
        let removed = list.compactMap { $0.as(AttributeSyntax.self) }.filter { names.contains($0.lastName) }
        let kept = Array(list).filter { !names.contains($0.as(AttributeSyntax.self)?.lastName ?? "") }
        let titles = removed.map { "'@\($0.attributeName.trimmedDescription)'" }.joined(separator: " and ")
        let text = AttributeListSyntax(kept).trimmedDescription
        return replace(list, with: text, "Remove \(titles)", id: "remove")
    }

    /// Replaces an attribute by another one.
    static func use(_ text: String, insteadOf attribute: AttributeSyntax) -> FixIt {
        replace(attribute, with: text, "Use '\(text)' instead", id: "use")
    }

    /// Splits a variable's declaration into one declaration for each name, if each name is plain.
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
        return replace(variable, with: text, "Declare each field separately", id: "split")
    }
}

extension String {
    /// The text without the space at a list's ends, which stays when the list is replaced.
    fileprivate func trimming(leading: Trivia, trailing: Trivia) -> String {
        String(dropFirst(leading.description.count).dropLast(trailing.description.count))
    }
}
