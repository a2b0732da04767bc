// This file owns generated text as a declaration.

import SwiftSyntax
import SwiftSyntaxBuilder

extension DeclSyntax {
    /// A declaration that is its text only: the compiler parses what is generated, and it need not be parsed here to be printed.
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
    /// Accessors as an accessor macro answers them, as deep as they stand in a variable's braces.
    static func list(_ texts: [String]) -> [AccessorDeclSyntax] {
        texts.map { AccessorDeclSyntax(accessorSpecifier: .identifier($0.indented)) }
    }
}

extension ExtensionDeclSyntax {
    /// An extension as an extension macro answers it: of a type, with conformances, if there are any, and members.
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
