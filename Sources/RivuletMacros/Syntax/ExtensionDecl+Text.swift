// This file owns the text of the extensions that the macros add.

import SwiftSyntax
import SwiftSyntaxBuilder

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
