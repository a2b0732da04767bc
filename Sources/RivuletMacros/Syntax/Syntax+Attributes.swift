// This file owns the small questions that every macro asks of the syntax: attributes, names, access.

import SwiftSyntax

extension AttributeListSyntax {
    /// The attribute of this name, which may be qualified by a module.
    func attribute(named name: String) -> AttributeSyntax? {
        lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.lastName == name }
    }
}

extension AttributeSyntax {
    /// An attribute without arguments; it is not parsed, which is done for every field.
    static func named(_ name: String) -> AttributeSyntax {
        AttributeSyntax(attributeName: IdentifierTypeSyntax(name: .identifier(name)))
    }

    /// The last component of the attribute's dotted name.
    var lastName: String {
        if let member = attributeName.as(MemberTypeSyntax.self) { return member.name.text }
        return attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? attributeName.trimmedDescription
    }
}

extension TokenSyntax {
    /// The identifier without the backticks that a keyword needs.
    var bareName: String { identifier?.name ?? text }
}

extension DeclModifierListSyntax {
    func contains(_ keyword: Keyword) -> Bool {
        contains { $0.name.tokenKind == .keyword(keyword) }
    }
}

extension DeclGroupSyntax {
    /// The modifier that hides the type from extensions of it: `private`, on a type in another one.
    func hidingModifier(in context: [Syntax]) -> DeclModifierSyntax? {
        guard context.contains(where: { $0.asProtocol((any DeclGroupSyntax).self) != nil }) else { return nil }
        return modifiers.first { $0.name.tokenKind == .keyword(.private) }
    }

    /// The modifier `private`, which keeps even an extension at the top of the same file from the storage of generated fields.
    var privateModifier: DeclModifierSyntax? {
        modifiers.first { $0.name.tokenKind == .keyword(.private) }
    }

    /// What a generated member needs in front, with a space after it, to be as visible as its type.
    ///
    /// `context` is what the type stands in, from the inside out.
    func memberAccess(in context: [Syntax]) -> String {
        if modifiers.contains(.public) || modifiers.contains(.open) { return "public " }
        if modifiers.contains(.package) { return "package " }
        if modifiers.contains(.private) || modifiers.contains(.fileprivate) { return "" }
        let outer = context.compactMap { $0.asProtocol((any DeclGroupSyntax).self) }
        if outer.contains(where: { $0.modifiers.contains(.private) || $0.modifiers.contains(.fileprivate) }) {
            return "fileprivate "
        }
        // The modifier of an extension is that of the types in it.
        return outer.first?.as(ExtensionDeclSyntax.self)?.memberAccess(in: []) ?? ""
    }
}

extension TypeSyntax {
    /// Whether the type is optional by its spelling: `T?` or `T!`.
    var isOptionalBySpelling: Bool {
        `is`(OptionalTypeSyntax.self) || `is`(ImplicitlyUnwrappedOptionalTypeSyntax.self)
    }
}

extension String {
    /// The name as a step of a JSON Pointer.
    var step: String { "/" + replacing("~", with: "~0").replacing("/", with: "~1") }

    /// The identifier with something in front, in backticks if it is a raw one, such as `two words`.
    func prefixed(_ prefix: String) -> String {
        let isPlain = allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        return isPlain ? "\(prefix)\(self)" : "`\(prefix)\(self)`"
    }

    /// The text as a Swift string literal.
    var quoted: String {
        let line = split { $0.isNewline || $0 == "\t" }.joined(separator: " ")
        let escaped = line.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\""
    }
}
