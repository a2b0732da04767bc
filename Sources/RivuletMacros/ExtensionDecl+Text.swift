// Part of Rivulet. See README.md for the architecture.
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
        let opening = attributes + ["extension \(type.trimmedDescription)\(conformance) {"]
        let body = members.isEmpty ? [] : [members.joined(separator: "\n\n").indented]
        let text: DeclSyntax = "\(raw: (opening + body + ["}"]).joined(separator: "\n"))"
        return text.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }
}
