// This file owns the small queries that every macro makes of the syntax: attributes, names, access.

import SwiftSyntax

extension AttributeListSyntax {
    /// Returns the attribute with this name, which may be qualified by a module.
    func attribute(named name: String) -> AttributeSyntax? {
        lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.lastName == name }
    }
}

extension AttributeSyntax {
    /// Returns an attribute without arguments; it is made without parsing, because every field gets one.
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
    /// Returns the modifier that hides the type from its extensions: `private` on a nested type.
    func hidingModifier(in context: [Syntax]) -> DeclModifierSyntax? {
        guard context.contains(where: { $0.asProtocol((any DeclGroupSyntax).self) != nil }) else { return nil }
        return modifiers.first { $0.name.tokenKind == .keyword(.private) }
    }

    /// The modifier `private`, which hides the storage of generated fields even from an extension at the top of the
    /// same file.
    var privateModifier: DeclModifierSyntax? {
        modifiers.first { $0.name.tokenKind == .keyword(.private) }
    }

    /// Returns the access modifier of a generated member, with a space after it, so that the member is as visible as
    /// its type.
    ///
    /// `context` has the declarations around the type, from the inside out.
    func memberAccess(in context: [Syntax]) -> String {
        if modifiers.contains(.public) || modifiers.contains(.open) { return "public " }
        if modifiers.contains(.package) { return "package " }
        if modifiers.contains(.private) || modifiers.contains(.fileprivate) { return "" }
        let outer = context.compactMap { $0.asProtocol((any DeclGroupSyntax).self) }
        if outer.contains(where: { $0.modifiers.contains(.private) || $0.modifiers.contains(.fileprivate) }) {
            return "fileprivate "
        }
        // A type has the modifier of the extension around it.
        return outer.first?.as(ExtensionDeclSyntax.self)?.memberAccess(in: []) ?? ""
    }
}

extension TypeSyntax {
    /// True if the type is optional by its spelling: `T?` or `T!`.
    var isOptionalBySpelling: Bool {
        `is`(OptionalTypeSyntax.self) || `is`(ImplicitlyUnwrappedOptionalTypeSyntax.self)
    }
}

extension String {
    /// The name as a step of a JSON Pointer.
    var step: String { "/" + replacing("~", with: "~0").replacing("/", with: "~1") }

    /// Returns the identifier with a prefix, in backticks if it is a raw one, such as `two words`.
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
