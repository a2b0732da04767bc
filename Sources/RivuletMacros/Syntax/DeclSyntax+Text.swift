// This file owns generated text as a declaration.

import SwiftSyntax

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
