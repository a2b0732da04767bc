// This file turns generated text into declarations.

import SwiftSyntax
import SwiftSyntaxBuilder

extension DeclSyntax {
    /// Returns a declaration that is only its text; the text need not be parsed here, because the compiler parses it.
    static func text(_ text: String) -> DeclSyntax {
        DeclSyntax(MissingDeclSyntax(placeholder: .identifier(text)))
    }
}

extension String {
    /// The text one level deeper.
    var indented: String {
        split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "    \($0)" }
            .joined(separator: "\n")
    }
}

extension AccessorDeclSyntax {
    /// Returns accessors for an accessor macro, indented as in a variable's braces.
    static func list(_ texts: [String]) -> [AccessorDeclSyntax] {
        texts.map { AccessorDeclSyntax(accessorSpecifier: .identifier($0.indented)) }
    }
}

extension ExtensionDeclSyntax {
    /// Returns an extension for an extension macro: of a type, with members, and with conformances if there are any.
    static func list(
        of type: some TypeSyntaxProtocol,
        attributes: [String] = [],
        conformingTo protocols: [String],
        members: [String] = []
    ) -> [ExtensionDeclSyntax] {
        let conformance = protocols.isEmpty ? "" : ": \(protocols.joined(separator: ", "))"
        let header = (attributes + ["extension \(type.trimmedDescription)\(conformance) {\n}"]).joined(separator: "\n")
        guard var extended = DeclSyntax("\(raw: header)").as(ExtensionDeclSyntax.self) else { return [] }
        if !members.isEmpty {
            let body = DeclSyntax.text("\n" + members.joined(separator: "\n\n").indented)
            extended.memberBlock.members = [MemberBlockItemSyntax(decl: body)]
        }
        return [extended]
    }
}
