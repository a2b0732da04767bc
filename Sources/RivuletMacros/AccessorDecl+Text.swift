// Part of Rivulet. See README.md for the architecture.
// This file owns the text of the accessors that the macros add.

import SwiftSyntax
import SwiftSyntaxBuilder

extension AccessorDeclSyntax {
    /// Accessors as an accessor macro answers them, as deep as they stand in a variable's braces.
    static func list(_ texts: [String]) -> [AccessorDeclSyntax] {
        texts.map { "\(raw: $0.indented)" }
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
