// This file owns the text of the accessors that the macros add.

import SwiftSyntax

extension AccessorDeclSyntax {
    /// Accessors as an accessor macro answers them, as deep as they stand in a variable's braces.
    static func list(_ texts: [String]) -> [AccessorDeclSyntax] {
        texts.map { AccessorDeclSyntax(accessorSpecifier: .identifier($0.indented)) }
    }
}
